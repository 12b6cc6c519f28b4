! SPDX-License-Identifier: LGPL-2.1-or-later
! Stands in for PAPI's file of this name: what programs need that use its high-level calls alone.
      integer, parameter :: PAPI_OK = 0
      integer, parameter :: PAPI_EINVAL = -1
