"""Places that one process sees otherwise than the machine has them: mounts in a namespace of its own, which end with it. Needs root.

Each function answers what the process's command begins with.
"""

# A copy, and not a mount over one file: a minimal Debian has no /etc/hosts to mount over.
LAY_OVER_ETC = """set -e
mount -t tmpfs -o mode=755 tmpfs /mnt
cp -a /etc/. /mnt
cp -a --remove-destination "$1/." /mnt
mount --move /mnt /etc
shift
exec "$@"
"""
LET_SYSTEMD_RUN = """set -e
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/systemd/system
exec "$@"
"""


def with_etc(folder):
    """What lies in `folder` lies in /etc, beside what lies there anyhow."""
    return _inside(LAY_OVER_ETC, str(folder))


def where_systemd_runs():
    """sd_booted(3) says that it does; nothing of it is there."""
    return _inside(LET_SYSTEMD_RUN)


def _inside(script, *words):
    return ["unshare", "--mount", "sh", "-c", script, "sh", *words]
