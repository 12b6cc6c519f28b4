# SPDX-License-Identifier: LGPL-2.1-or-later
# For other languages. The module of Python finds the library from its own place, so that it is
# installed as it is.
pythondir = @pythondir@
dist_python_DATA = lang/python/libperfmon.py
