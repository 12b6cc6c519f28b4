# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# For suites that need a fresh Debian of some release: a system in a folder, whose mounts end with
# the commands that run in it. Sourced behind suite.sh.

# shellcheck disable=SC2034 # for the suites
releases=(bookworm trixie)
cache=$PM_SUITE_DIR/cache
mkdir -p "$cache"

# The mirror of this machine, as apt knows it.
mirror=
if command -v apt-get >/dev/null; then
	# shellcheck disable=SC2016 # apt-get expands these
	mirror=$(apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
		awk '$1 == "Debian" && $2 == "main" { sub(/\/$/, "", $3); print $3; exit }')
fi
# What a command in a system must not find of this one.
clean=(env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
	DEBIAN_FRONTEND=noninteractive http_proxy="${http_proxy:-}")
apart() { unshare --mount --pid --fork --kill-child "$@"; }
# in_root SYSTEM LAYER COMMAND...: runs in the system of that folder, and keeps what it changes in LAYER.
in_root() {
	local system=$1 layer=$1/$2
	shift 2
	mkdir -p "$layer/upper" "$layer/work" "$layer/root"
	# shellcheck disable=SC2016 # for the inner shell
	apart bash -euc '
		system=$1 layer=$2 cache=$3
		shift 3
		mount -t overlay overlay -o "lowerdir=$system/base,upperdir=$layer/upper,workdir=$layer/work" "$layer/root"
		mount -t proc proc "$layer/root/proc"
		mount --rbind /dev "$layer/root/dev"
		mount --rbind /sys "$layer/root/sys"
		mkdir -p "$layer/root/var/cache/apt/archives"
		mount --bind "$cache" "$layer/root/var/cache/apt/archives"
		exec chroot "$layer/root" "$@"' - "$system" "$layer" "$cache" "${clean[@]}" "$@"
}
apt_get() { # SYSTEM LAYER ARGUMENT...
	in_root "$1" "$2" apt-get -q -y --no-install-recommends -o APT::Keep-Downloaded-Packages=true \
		-o Dpkg::Use-Pty=0 "${@:3}"
}
strap() { # SYSTEM RELEASE
	rm -rf "$1"
	mkdir -p "$1"
	apart debootstrap --variant=minbase --cache-dir="$cache" "$2" "$1/base" "$mirror"
}

# step NAME COMMAND...: a test, and whether it passed.
step() {
	tried=
	try "$@"
	[ -z "$tried" ]
}
# Why there can be no system of a release; nothing when there can be.
obstacle() { # RELEASE
	if [ "$(id -u)" -ne 0 ]; then
		echo "a system in a folder needs root"
	elif [ -z "$mirror" ] || ! command -v debootstrap >/dev/null; then
		echo "debootstrap or the mirror that apt uses is missing"
	elif ! apart true 2>/dev/null; then
		echo "this machine gives no namespaces"
	elif ! /usr/lib/apt/apt-helper download-file "$mirror/dists/$1/InRelease" "$PM_SUITE_DIR/InRelease" >&2; then
		echo "the mirror that apt uses does not give $1"
	fi
}
