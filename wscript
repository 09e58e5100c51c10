## -*- Mode: python; py-indent-offset: 4; indent-tabs-mode: nil; coding: utf-8; -*-
# SPDX-License-Identifier: GPL-2.0-only
#
# For the waf-based releases of ns-3, up to 3.35 (tried: 3.35). Later ones use
# CMakeLists.txt.

import os
import re
import sys

from waflib import Build

import wutils

MODULE = 'proteus'


def configure(conf):
    missing = []
    if not conf.check_cfg(package='protobuf', uselib_store='PROTOBUF',
                          args=['--cflags', '--libs'], mandatory=False):
        missing.append('libprotobuf-dev')
    if not conf.find_program('protoc', var='PROTOC', mandatory=False):
        missing.append('protobuf-compiler')
    for header, package in (('nlohmann/json.hpp', 'nlohmann-json3-dev'),
                            ('boost/graph/adjacency_list.hpp', 'libboost-dev'),
                            ('zlib.h', 'zlib1g-dev')):
        if not conf.check_nonfatal(header_name=header, features='cxx',
                                   compile_filename='test.cc', mandatory=False):
            missing.append(package)
    conf.env['LIB_ZLIB'] = ['z']
    if not conf.check_cfg(package='eigen3', uselib_store='EIGEN3',
                          args=['--cflags'], mandatory=False):
        missing.append('libeigen3-dev')

    if missing:
        # A module without its dependencies must not stop ns-3: leave it out.
        conf.report_optional_feature(MODULE, 'Proteus', False,
                                     'missing: ' + ' '.join(missing))
        conf.env['MODULES_NOT_BUILT'].append(MODULE)
        return
    conf.report_optional_feature(MODULE, 'Proteus', True, '')

    conf.check_cfg(package='gtest_main', uselib_store='GTEST',
                   args=['--cflags', '--libs'], mandatory=False)

    # The header that CMakeLists.txt makes with configure_file(), from the same
    # template. (conf.write_config_header() would also write every HAVE_... of
    # the modules configured before this one.)
    match = re.match(r'(\d+)\.(\d+)', wutils.VERSION)
    version = 100 * int(match.group(1)) + int(match.group(2)) if match else 399
    template = conf.path.find_resource('model/proteus-config.h.in').read()
    node = conf.bldnode.make_node('ns3/proteus-config.h')
    node.parent.mkdir()
    node.write(template.replace('@PROTEUS_NS3_VERSION@', str(version))
               .replace('@PROTEUS_HAS_MPI@', '0'))
    conf.env.append_unique(Build.CFG_FILES, [node.abspath()])  # survives "waf clean"


def source_dir(node):
    """Definition of PROTEUS_SOURCE_DIR: tests and examples read workloads/
    from wherever they are started."""
    return 'PROTEUS_SOURCE_DIR="%s"' % os.path.realpath(node.abspath())


def build(bld):
    if MODULE in bld.env['MODULES_NOT_BUILT']:
        return

    # Generated code goes to build/ns3, next to the headers of ns-3, so that
    # #include "ns3/proteus-graph.pb.h" is right here as it is with CMake.
    ns3_dir = bld.bldnode.find_or_declare('ns3')
    generated = []
    for proto in bld.path.ant_glob('model/*/*.proto'):
        name = proto.name[:-len('.proto')]
        pb_cc = ns3_dir.find_or_declare(name + '.pb.cc')
        pb_h = ns3_dir.find_or_declare(name + '.pb.h')
        bld(name=name + '-proto',
            rule='${PROTOC} --cpp_out=%s -I%s ${SRC[0].abspath()}'
                 % (ns3_dir.abspath(), proto.parent.abspath()),
            source=proto,
            target=[pb_cc, pb_h],
            before=['cxx'])
        generated.append(pb_cc)

    # The files that reports are made from become part of the library.
    embed = bld.path.find_resource('model/report/resources/embed.py')
    resources = [node for node in bld.path.ant_glob('model/report/resources/*')
                 if node != embed] + [bld.path.find_resource('VERSION')]
    resources_cc = ns3_dir.find_or_declare('proteus-resources.cc')
    bld(name='proteus-resources',
        rule='"%s" "%s" ${TGT[0].abspath()} %s' % (
            sys.executable, embed.abspath(),
            ' '.join('"%s"' % node.abspath() for node in resources)),
        source=resources + [embed],
        target=[resources_cc],
        before=['cxx'])
    generated.append(resources_cc)

    module = bld.create_ns3_module(MODULE, ['core', 'network'])
    module.source = generated + bld.path.ant_glob(
        ['model/*.cc', 'model/*/*.cc', 'helper/*.cc', 'helper/*/*.cc'])
    module.use += ['PROTOBUF', 'ZLIB', 'EIGEN3']
    # ns-3 up to 3.34 compiles as C++11; the last -std= on a line wins.
    module.env.append_value('CXXFLAGS', '-std=c++17')
    if bld.env['CXX_NAME'] == 'gcc':
        # At -O3, g++ makes vector code of the comparison loops of the packet
        # engine, whose wide loads then wait for narrow stores: up to twice as
        # slow. (waf has flags per task generator only, hence for all of it.)
        module.env.append_value('CXXFLAGS', '-fno-tree-slp-vectorize')
    # Results are the same bytes on every processor: see CMakeLists.txt.
    module.env.append_value('CXXFLAGS', '-ffp-contract=off')

    headers = bld(features='ns3header')
    headers.module = MODULE
    headers.source = [  # ns-3 wants strings here
        header.path_from(bld.path) for header in bld.path.ant_glob(
            ['model/*.h', 'model/*/*.h', 'helper/*.h', 'helper/*/*.h'])]

    if bld.env['ENABLE_TESTS']:
        test = bld.create_ns3_module_test_library(MODULE)
        test.source = bld.path.ant_glob([
            'test/proteus*-test-suite.cc',
            # What suites share with unit tests.
            'test/unit/schedule/ideal-link.cc',
            'test/unit/schedule/schedule-theory.cc'])
        test.use.append('PROTOBUF')
        test.env.append_value('CXXFLAGS', '-std=c++17')
        test.env.append_value('DEFINES', source_dir(bld.path))

        unit_tests = bld.path.ant_glob(['test/unit/*.cc', 'test/unit/*/*.cc'])
        if bld.env['LIB_GTEST'] and unit_tests:
            gtest = bld.create_ns3_program('proteus-unit-tests',
                                           [MODULE, 'network', 'core'])
            gtest.source = unit_tests
            gtest.use += ['GTEST', 'PROTOBUF', 'ZLIB']
            gtest.env.append_value('CXXFLAGS', '-std=c++17')
            gtest.env.append_value('DEFINES', source_dir(bld.path))

    if bld.env['ENABLE_EXAMPLES']:
        bld.recurse('examples')
