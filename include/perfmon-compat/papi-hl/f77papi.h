C SPDX-License-Identifier: LGPL-2.1-or-later
C Stands in for PAPI's file of this name: what programs need that use
C its high-level calls alone.
      INTEGER PAPI_OK, PAPI_EINVAL
      PARAMETER (PAPI_OK=0)
      PARAMETER (PAPI_EINVAL=-1)
