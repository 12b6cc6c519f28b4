// SPDX-License-Identifier: LGPL-2.1-or-later
//
// All of the C++ interface, from C++11 on: regions (perfmon/region.hpp), teams (perfmon/team.hpp),
// sessions (perfmon/session.hpp), and the events of one call (perfmon/count.hpp). It is made of
// headers alone, above the C interface, which it includes.
#ifndef PERFMON_PERFMON_HPP
#define PERFMON_PERFMON_HPP

#include <perfmon/count.hpp>
#include <perfmon/error.hpp>
#include <perfmon/perfmon.h>
#include <perfmon/region.hpp>
#include <perfmon/session.hpp>
#include <perfmon/team.hpp>

#endif
