/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-foreign-files.h"

/**
 * @file
 * @ingroup proteus
 * Archives, compressed files and data bases, which are no input as they are. Their first bytes are
 * those of file(1)'s list.
 */

namespace ns3
{
namespace proteus
{

namespace
{

using Registration = ForeignFileRegistry::Registration;

const Registration ZSTD("zstd",
                        {{},
                         1,
                         "a file that zstd has compressed: unpack it, or compress it by gzip, "
                         "which is read",
                         "\x28\xb5\x2f\xfd",
                         0,
                         {".zst"}});

const Registration XZ("xz",
                      {{},
                       1,
                       "a file that xz has compressed: unpack it, or compress it by gzip, which is "
                       "read",
                       "\xfd"
                       "7zXZ",
                       0,
                       {".xz"}});

const Registration BZIP2("bzip2",
                         {{},
                          1,
                          "a file that bzip2 has compressed: unpack it, or compress it by gzip, "
                          "which is read",
                          "BZh",
                          0,
                          {".bz2"}});

const Registration ZIP("zip",
                       {{},
                        1,
                        "a zip archive: unpack it, and name the file or folder inside",
                        "PK\x03\x04",
                        0,
                        {".zip"}});

const Registration TAR("tar",
                       {{},
                        1,
                        "a tar archive: unpack it, and name the file or folder inside",
                        "ustar",
                        257,
                        {".tar", ".tar.gz", ".tgz"}});

const Registration NSIGHT("Nsight Systems",
                          {{},
                           1,
                           "a report of Nsight Systems, which is not read: traces of PyTorch's "
                           "profiler (export_chrome_trace) are",
                           "",
                           0,
                           {".nsys-rep", ".qdrep"}});

const Registration SQLITE("SQLite",
                          {{},
                           1,
                           "a data base of SQLite, as nsys exports one, which is not read: traces "
                           "of PyTorch's profiler (export_chrome_trace) are",
                           "SQLite format 3",
                           0,
                           {".sqlite"}});

const Registration PERFETTO("Perfetto trace",
                            {{},
                             1,
                             "a trace of Perfetto, which is not read, but written (--timeline)",
                             "",
                             0,
                             {".perfetto-trace", ".pftrace"}});

} // namespace

} // namespace proteus
} // namespace ns3
