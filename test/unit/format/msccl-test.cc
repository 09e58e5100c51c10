/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-msccl.h"
#include "ns3/proteus-warning.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// A ring all-gather of two GPUs out of place, with the own copy, as MSCCL's tools write it.
const std::string ALL_GATHER =
    R"(<algo name="pair" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather" inplace="0" outofplace="1" minBytes="0">
  <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="1" recv="1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"/>
    </tb>
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="0" deps="1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
)";

/// @param text with `from` replaced by `to`, once @return what reading it says
std::string
Error(std::string text, const std::string& from, const std::string& to)
{
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    std::istringstream input(text);
    try
    {
        ReadMscclXml(input, "x.xml");
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "";
}

/// @param text of a schedule @return it
MscclSchedule
Read(const std::string& text)
{
    std::istringstream input(text);
    return ReadMscclXml(input, "x.xml");
}

} // namespace

TEST(Msccl, AttributesThatAreMeantByOthers)
{
    std::string warnings;
    const WarningListener listener([&warnings](const std::string& text) {
        warnings += text;
        return false;
    });
    EXPECT_EQ(Error(ALL_GATHER, "nchannels", "nchanels"),
              "x.xml:1: /algo: has no attribute \"nchannels\"; is it meant by \"nchanels\"?");
    EXPECT_EQ(Error(ALL_GATHER, "coll=", "cols="),
              "x.xml:1: /algo: has no attribute \"coll\"; is it meant by \"cols\"?");
    EXPECT_NE(Error(ALL_GATHER, "srcbuf", "scrbuf").find("is it meant by \"scrbuf\"?"),
              std::string::npos);
    // What is refused is one message.
    EXPECT_EQ(warnings, "");
    EXPECT_EQ(Error(ALL_GATHER, "proto", "prot"), "");
    EXPECT_NE(warnings.find("attribute prot of algo"), std::string::npos) << warnings;
}

TEST(Msccl, RoomAndFlagsThatNobodyUses)
{
    std::string warnings;
    const WarningListener listener([&warnings](const std::string& text) {
        warnings += text + '\n';
        return false;
    });
    EXPECT_EQ(Error(ALL_GATHER, "", ""), "");
    EXPECT_EQ(warnings, "");
    EXPECT_EQ(Error(ALL_GATHER, "s_chunks=\"0\"", "s_chunks=\"3\""), "");
    EXPECT_EQ(warnings, "x.xml:2: s_chunks = 3, but steps use 0 there\n");
    warnings.clear();
    EXPECT_EQ(Error(ALL_GATHER, "hasdep=\"0\"", "hasdep=\"1\""), "");
    EXPECT_EQ(warnings, "x.xml:4: hasdep = 1 has no effect: no step waits for this one\n");
    EXPECT_EQ(Error(ALL_GATHER, "pair", "a &amp; b &#65;"), "");
    EXPECT_EQ(Error(ALL_GATHER, "pair", "a & b").substr(0, 32), "x.xml:1: '&' in a value must beg");
    EXPECT_EQ(Error(ALL_GATHER, "pair", "&nbsp;").substr(0, 32),
              "x.xml:1: '&' in a value must beg");
    EXPECT_EQ(Error(ALL_GATHER, "<algo", "[] <algo"),
              "x.xml:1: this is no XML, which begins with '<', but begins with '[] <algo "
              "name=\"pair\" proto=\"Simple\" ncha...'");
}

TEST(Msccl, ASmallScheduleBecomesItsProgram)
{
    const MscclSchedule schedule = Read(ALL_GATHER);
    EXPECT_EQ(schedule.name, "pair");
    EXPECT_EQ(schedule.collective, Collective::ALL_GATHER);
    EXPECT_EQ(schedule.maxBytes, uint64_t{128} << 20);
    CollectiveRequest request;
    request.vertices = {0, 1};
    // Less than a slot of 512 KiB, and chunks that take three loops of four slots, in two slices.
    for (uint64_t bytes : {uint64_t{1000}, uint64_t{2} * 4800000})
    {
        request.bytes = bytes;
        const auto program = MakeProgram(schedule, request);
        EXPECT_EQ(CheckProgram(program, MakeRequest(schedule, request)), "");
        EXPECT_EQ(SentBytes(program.ranks[0]), bytes / 2);
        const auto& blocks = program.ranks[1].blocks;
        ASSERT_EQ(blocks.size(), 2u);
        const std::size_t loops = bytes > 1000 ? 3 : 1;
        const std::size_t slices = bytes > 1000 ? 2 : 1;
        ASSERT_EQ(blocks[0].steps.size(), 2 * loops * slices);
        ASSERT_EQ(blocks[1].steps.size(), loops * slices);
        const Step& copy = blocks[1].steps[(loops - 1) * slices]; // the first slice waits
        EXPECT_EQ(copy.kind, StepKind::COPY);
        EXPECT_EQ(copy.waitBlock, 0u);
        EXPECT_EQ(copy.waitStep, 2 * loops * slices - 1);
    }
    request.bytes = 1001;
    EXPECT_THROW(MakeProgram(schedule, request), std::invalid_argument);
    request.bytes = 1000;
    request.vertices = {0, 1, 2};
    EXPECT_THROW(MakeProgram(schedule, request), std::invalid_argument);
}

TEST(Msccl, TellsWhatIsWrongAndWhere)
{
    EXPECT_EQ(Error(R"({"name": "allreduce"})", "all", "all"),
              "x.xml:1: is JSON: schedules of MSCCL, which are read, are XML");
    EXPECT_EQ(Error("{\n\"name\": \"allreduce\",\n\"num_threads_per_block\": 1024\n}", "all", "all")
                  .find("x.xml:1: this is an execution plan of MSCCL++, which is not read"),
              0u);
    EXPECT_EQ(Error("<system version=\"1\"/>", "system", "system"),
              "x.xml:1: /system: the outermost element must be 'algo': this is a topology of NCCL, "
              "which --cluster reads");
    EXPECT_NE(Error(ALL_GATHER, "\"allgather\"", "\"custom\"").find("x.xml:1: /algo: unknown coll"),
              std::string::npos);
    EXPECT_EQ(Error(ALL_GATHER, "minBytes", "root=\"1\" minBytes"),
              "x.xml:1: /algo: root belongs to a broadcast or a reduce, not to all-gather");
    EXPECT_EQ(Error(ALL_GATHER, "minBytes", "maxBytes=\"-1\" minBytes"), ""); // no bound
    EXPECT_NE(Error(ALL_GATHER, "type=\"cpy\"", "type=\"ra\"").find("x.xml:8: "),
              std::string::npos);
    EXPECT_NE(Error(ALL_GATHER, "dstoff=\"1\"", "dstoff=\"2\"").find("reach past the 2 chunks"),
              std::string::npos);
    EXPECT_NE(Error(ALL_GATHER, "hasdep=\"0\"", "hasdep=\"x\"").find("hasdep"), std::string::npos);
    EXPECT_NE(Error(ALL_GATHER, "send=\"1\"", "send=\"2\"").find("send must be"),
              std::string::npos);
    EXPECT_NE(Error(ALL_GATHER, "send=\"1\"", "send=\"-1\"").find("no peer"), std::string::npos);
    EXPECT_NE(Error(ALL_GATHER, "<step s=\"1\"", "<step s=\"2\"").find("numbered"),
              std::string::npos);
    EXPECT_NE(Error(ALL_GATHER, "depid=\"0\" deps=\"1\"", "depid=\"0\" deps=\"2\"")
                  .find("a step that there is not"),
              std::string::npos);
    EXPECT_NE(Error(ALL_GATHER, "id=\"1\" i_chunks", "id=\"0\" i_chunks").find("second GPU"),
              std::string::npos);
    EXPECT_NE(Error(ALL_GATHER, "ngpus=\"2\"", "ngpus=\"4\"").find("multiple of ngpus"),
              std::string::npos);
    EXPECT_NE(Error(ALL_GATHER, "cnt=\"1\"", "cnt=\"0\"").find("cnt must be"), std::string::npos);
    // The place of the peer, which the step does not need.
    const std::string receive = "type=\"r\" srcbuf=\"i\" srcoff=\"0\"";
    EXPECT_NE(Error(ALL_GATHER, receive, "type=\"r\" srcbuf=\"x\" srcoff=\"0\"")
                  .find("srcbuf must be i, o or s"),
              std::string::npos);
    EXPECT_NE(Error(ALL_GATHER, receive, "type=\"r\" srcbuf=\"i\" srcoff=\"nan\"")
                  .find("srcoff must be a whole number from -1 to "),
              std::string::npos);
    EXPECT_EQ(Error(ALL_GATHER, receive, "type=\"r\" srcbuf=\"i\" srcoff=\"-1\""), "");
    EXPECT_EQ(Error(ALL_GATHER, receive, "type=\"r\""), "");
    EXPECT_NE(Error(ALL_GATHER, "proto=\"Simple\"", "proto=\"LL64\"").find("LL128"),
              std::string::npos);
}

TEST(Msccl, IsInPlaceOnlyWhereItSaysSoAndNotOtherwise)
{
    const std::string text = ALL_GATHER;
    const auto read = [&](const std::string& places) {
        std::string changed = text;
        const std::string given = "inplace=\"0\" outofplace=\"1\"";
        changed.replace(changed.find(given), given.size(), places);
        return Read(changed).inPlace;
    };
    EXPECT_FALSE(read("inplace=\"0\""));
    EXPECT_FALSE(read("inplace=\"1\" outofplace=\"1\""));
    EXPECT_FALSE(read(""));
    // Files from before "outofplace".
    const std::string ring =
        R"(<algo name="ring" proto="LL" nchannels="1" nchunksperloop="2" ngpus="2" coll="allreduce" inplace="1">
  <gpu id="0" i_chunks="2" o_chunks="0" s_chunks="0">
    <tb id="0" send="1" recv="1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="rrc" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="2" type="s" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="3" type="r" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="2" o_chunks="0" s_chunks="0">
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="2" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="3" type="r" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>)";
    EXPECT_TRUE(Read(ring).inPlace);
    EXPECT_NE(Error(ALL_GATHER, "minBytes=\"0\"", "minBytes=\"9\" maxBytes=\"8\"").find("above"),
              std::string::npos);
}

TEST(Msccl, RefusesSchedulesThatDoNotEndOrComputeSomethingElse)
{
    // GPU 1 copies its own chunk to the wrong place.
    EXPECT_NE(Error(ALL_GATHER,
                    "dstoff=\"1\" cnt=\"1\" depid=\"0\"",
                    "dstoff=\"0\" cnt=\"1\" depid=\"0\"")
                  .find("the schedule is no"),
              std::string::npos);
    // Both GPUs receive before they send.
    std::string text = ALL_GATHER;
    for (const char* type : {"type=\"s\"", "type=\"r\""})
    {
        for (std::size_t at = 0; (at = text.find(type, at)) != std::string::npos; ++at)
        {
            text.replace(at, 8, std::string("type=\"") + (type[6] == 's' ? "R\"" : "s\""));
        }
    }
    for (std::size_t at = 0; (at = text.find("type=\"R\"", at)) != std::string::npos; ++at)
    {
        text.replace(at, 8, "type=\"r\"");
    }
    const std::string error = Error(text, "<algo", "<algo");
    EXPECT_NE(error.find("rank 0, channel 0, step 0: waits for ever for a chunk from rank 1, "
                         "channel 0, step 0 waits for a chunk from rank 0, channel 0, step 0"),
              std::string::npos)
        << error;
}

TEST(Msccl, RefusesSchedulesThatNeedMoreRoomThanAConnectionHas)
{
    // Both GPUs send all their chunks and then receive. A connection has room for two of Simple,
    // whose chunks take half of NCCL's eight slots, and for eight of LL.
    const auto read = [](const std::string& protocol, uint32_t chunks) {
        std::string text = "<algo name=\"pair\" proto=\"" + protocol +
                           "\" nchannels=\"1\" nchunksperloop=\"" + std::to_string(2 * chunks) +
                           "\" ngpus=\"2\" coll=\"allgather\" inplace=\"1\" minBytes=\"0\">";
        for (uint32_t gpu = 0; gpu < 2; ++gpu)
        {
            const std::string peer = std::to_string(1 - gpu);
            text += "<gpu id=\"" + std::to_string(gpu) + "\" i_chunks=\"" + std::to_string(chunks) +
                    "\" o_chunks=\"" + std::to_string(2 * chunks) +
                    "\" s_chunks=\"0\"><tb id=\"0\" send=\"" + peer + "\" recv=\"" + peer +
                    "\" chan=\"0\">";
            for (uint32_t step = 0; step < 2 * chunks; ++step)
            {
                const bool sends = step < chunks;
                const std::string at =
                    std::to_string((sends ? gpu : 1 - gpu) * chunks + step % chunks);
                text += "<step s=\"" + std::to_string(step) + "\" type=\"" + (sends ? "s" : "r") +
                        "\" srcbuf=\"o\" srcoff=\"" + at + "\" dstbuf=\"o\" dstoff=\"" + at +
                        "\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>";
            }
            text += "</tb></gpu>";
        }
        return Error(text + "</algo>", "<algo", "<algo");
    };
    EXPECT_EQ(read("Simple", 2), "");
    EXPECT_EQ(read("Simple", 3),
              "x.xml:1: /algo: the schedule is no all-gather: rank 0, channel 0, step 4: waits for "
              "ever for room from rank 1, channel 0, step 4 waits for room from rank 0, channel 0, "
              "step 4");
    EXPECT_EQ(read("LL", 8), "");
    EXPECT_NE(read("LL", 9).find("waits for ever for room"), std::string::npos);
}

TEST(Msccl, NeedsRoomForSizesThatItIsForOnly)
{
    // Both GPUs send nine chunks in one step and then receive. Small ones go together, and of
    // others of LL eight have room.
    const auto write = [](const std::string& bound) {
        std::string text = "<algo name=\"pair\" proto=\"LL\" nchannels=\"1\" nchunksperloop=\"18\" "
                           "ngpus=\"2\" coll=\"allgather\" inplace=\"1\" " +
                           bound + ">";
        for (const char* gpu : {"0", "1"})
        {
            const bool isFirst = gpu[0] == '0';
            const std::string peer = isFirst ? "1" : "0";
            text += std::string("<gpu id=\"") + gpu +
                    "\" i_chunks=\"9\" o_chunks=\"18\" s_chunks=\"0\"><tb id=\"0\" send=\"" + peer +
                    "\" recv=\"" + peer + "\" chan=\"0\">";
            for (const bool sends : {true, false})
            {
                const std::string at = sends == isFirst ? "0" : "9";
                text += std::string("<step s=\"") + (sends ? "0" : "1") + "\" type=\"" +
                        (sends ? "s" : "r") + "\" srcbuf=\"o\" srcoff=\"" + at +
                        "\" dstbuf=\"o\" dstoff=\"" + at +
                        "\" cnt=\"9\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>";
            }
            text += "</tb></gpu>";
        }
        return text + "</algo>";
    };
    const std::string endless = "the schedule is no all-gather: ";
    EXPECT_NE(Error(write(""), "<algo", "<algo").find(endless), std::string::npos);
    const MscclSchedule schedule = Read(write("maxBytes=\"8191\""));
    EXPECT_EQ(FindMscclMistake(schedule, 8191), "");
    EXPECT_EQ(FindMscclMistake(schedule, 1 << 20).find(endless), 0u);
}

TEST(Msccl, SchedulesOfMsccl)
{
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(PROTEUS_SOURCE_DIR) / ".." / "shared" / "data" / "msccl";
    if (!fs::exists(folder))
    {
        GTEST_SKIP() << folder << " is not there";
    }
    for (const auto& [file, collective, protocol] :
         {std::make_tuple("ncv4_ag_hier_4_Simple.xml", Collective::ALL_GATHER, Protocol::SIMPLE),
          std::make_tuple("ncv4_ar_tree_12_LL.xml", Collective::ALL_REDUCE, Protocol::LL)})
    {
        const MscclSchedule schedule = LoadMscclXml((folder / file).string());
        EXPECT_EQ(schedule.collective, collective);
        EXPECT_EQ(schedule.protocol, protocol);
        EXPECT_EQ(schedule.gpus.size(), 4u);
        CollectiveRequest request;
        request.vertices = {0, 1, 2, 3};
        for (uint64_t chunk : {uint64_t{4}, uint64_t{700001}})
        {
            request.bytes = chunk * schedule.chunks;
            const auto program = MakeProgram(schedule, request);
            EXPECT_EQ(CheckProgram(program, MakeRequest(schedule, request)), "") << file;
            EXPECT_EQ(program.protocol, protocol);
            uint64_t received = 0;
            for (const RankProgram& rank : program.ranks)
            {
                received += ReceivedBytes(rank);
            }
            // Both are optimal in bytes: each rank gets what others have, once.
            const uint64_t n = 4;
            EXPECT_EQ(received,
                      collective == Collective::ALL_GATHER ? (n - 1) * request.bytes
                                                           : 2 * (n - 1) * request.bytes)
                << file;
        }
    }
}

TEST(Msccl, WhatIsNotNeededIsNamed)
{
    std::vector<std::string> heard;
    const WarningListener listener([&heard](const std::string& text) {
        heard.push_back(text);
        return false;
    });
    const auto read = [&heard](const std::string& from, const std::string& to) {
        heard.clear();
        std::string text = ALL_GATHER;
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos);
        Read(text.replace(at, from.size(), to));
        return heard.empty() ? "" : heard.front();
    };
    EXPECT_EQ(read("nchannels=\"1\"", "nchannels=\"1\""), "");
    EXPECT_EQ(
        read("inplace=\"0\"", "inplace=\"1\""),
        "x.xml:1: may run in place and out of place (inplace, outofplace): runs out of place");
    EXPECT_EQ(read("nchannels=\"1\"", "nchannels=\"4\""),
              "x.xml:1: nchannels = 4, but thread blocks have 1 different channels");
    EXPECT_EQ(read(" proto=\"Simple\"", ""),
              "x.xml:1: does not say its protocol (proto); taken for Simple");
    EXPECT_EQ(read("hasdep=\"1\"", "hasdep=\"0\""),
              "x.xml:17: waits for step 1 of thread block 0, where hasdep is 0: MSCCL would wait "
              "for ever; here it goes on when that step has ended");
    EXPECT_EQ(read("deps=\"-1\"", "deps=\"0\""),
              "x.xml:4: deps = 0 has no effect without depid, a thread block");
    EXPECT_EQ(read("tb id=\"1\"", "tb id=\"216\""),
              "x.xml:7: id = 216: MSCCL has at most 215 and refuses the schedule; it is simulated "
              "all the same");
    EXPECT_EQ(read("coll=", "redop=\"max\" coll="),
              "x.xml:1: redop \"max\" is not heeded: a reduction is a sum");
    EXPECT_EQ(read("coll=", "redop=\"sum\" nthreadblocks=\"2\" coll="), "");
    EXPECT_EQ(read("coll=", "nthreadblocks=\"3\" coll="),
              "x.xml:1: nthreadblocks = 3, but a GPU has 2");
    EXPECT_EQ(read("<gpu id=\"1\" i_chunks=\"1\" o_chunks=\"2\" s_chunks=\"0\">",
                   "<gpu id=\"1\" i_chunks=\"1\" o_chunks=\"2\" s_chunks=\"0\">\n"
                   "<copy i_off=\"0\" o_off=\"1\"/>"), // before what thread block 1 waits for
              "x.xml:12: a copy is not carried out, as MSCCL passes it over");
    EXPECT_EQ(read("<tb id=\"0\"", "<copy i_off=\"0\" o_off=\"0\"/><tb id=\"0\""),
              "x.xml:3: a copy is not carried out, as MSCCL passes it over");
    EXPECT_EQ(
        read("i_chunks=\"1\"", "i_chunks=\"2\""),
        "x.xml:2: i_chunks = 2, but of 2 chunks (nchunksperloop) this all-gather has 1 there");
    EXPECT_EQ(
        read("o_chunks=\"2\"", "o_chunks=\"3\""),
        "x.xml:2: o_chunks = 3, but of 2 chunks (nchunksperloop) this all-gather has 2 there");
}
