# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The recipe of Spack. Copy it to packages/perfmon/ of a repository of yours ("spack repo create").
# In the folder with the release archive, type "spack install --no-checksum perfmon".

import os

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import *


class Perfmon(AutotoolsPackage):
    """Counts hardware and software events for named regions of a program, per thread and per
    call path, and in monitoring sessions, by perf_event_open(2)."""

    license("LGPL-2.1-or-later AND GPL-2.0-or-later", checked_by="perfmon")

    manual_download = True
    url = f"file://{os.getcwd()}/perfmon-0.1.0.tar.xz"

    version("0.1.0")

    variant("command", default=True, description="Build the command, the hooks and the manual")
    variant("shared", default=True, description="Build the shared library")
    variant("hwloc", default=True, description="Name the places of a machine by hwloc")
    variant("libpfm4", default=True, description="Name events by libpfm4")
    variant("valgrind", default=False, description="Build the tool for exact counts")
    variant("mpi", default=False, description="Build libperfmon-mpi")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("userspace-rcu@0.11:")
    depends_on("hwloc@2.1:", when="+hwloc")
    depends_on("libpfm4", when="+libpfm4")
    depends_on("ncurses", when="+command")
    depends_on("valgrind", when="+valgrind")
    depends_on("mpi", when="+mpi")

    requires("platform=linux", msg="perfmon stands on perf_event_open(2)")
    conflicts("~hwloc", when="+command", msg="the command needs hwloc")
    conflicts("~libpfm4", when="+command", msg="the command needs libpfm4")
    conflicts("~shared", when="+mpi", msg="libperfmon-mpi links the shared library")
    conflicts("+valgrind", when="~command", msg="the command runs the tool for exact counts")

    def configure_args(self):
        args = self.enable_or_disable("command")
        args += self.enable_or_disable("shared")
        args += self.with_or_without("hwloc")
        args += self.with_or_without("pfm", variant="libpfm4")
        args += self.with_or_without("valgrind")
        if self.spec.satisfies("+valgrind"):
            args.append(f"--with-valgrind-files={self.spec['valgrind'].prefix.libexec.valgrind}")
        if self.spec.satisfies("+mpi"):
            args.append(f"--with-mpi={self.spec['mpi'].mpicc}")
        return args

    def test_info(self):
        """the command says what the machine can count"""
        if self.spec.satisfies("~command"):
            raise SkipTest("built without the command")
        which(self.prefix.bin.perfmon, required=True)("info")
