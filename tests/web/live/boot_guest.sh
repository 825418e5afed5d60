# Boots systemd as PID 1 over this host's files: bash boot_guest.sh FOLDER REPOSITORY PYTHON PACKAGES CONTROLLERS
# tests/web/live/guest.py runs it in new namespaces.
set -eu
guest=$1 repository=$2 python=$3 packages=$4
mount --make-rprivate /
mount -t tmpfs tmpfs "$guest"
mkdir "$guest/upper" "$guest/work" "$guest/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$guest/upper,workdir=$guest/work" "$guest/root"
cd "$guest/root"
mount -t proc proc proc
mount -o bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    mount -t cgroup2 cgroup2 sys/fs/cgroup
else
    mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
    for each in $5; do
        [ -d "/sys/fs/cgroup/$each" ] || continue
        mkdir "sys/fs/cgroup/$each"
        option=$each
        [ "$each" != systemd ] || option=none,name=systemd
        mount -t cgroup -o "$option" cgroup "sys/fs/cgroup/$each"
    done
fi
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
for each in null zero full random urandom tty; do
    touch "dev/$each"
    mount --bind "/dev/$each" "dev/$each"
done
ln -s /proc/self/fd dev/fd
mkdir dev/pts
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mkdir dev/shm opt/judge opt/python opt/packages
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount --bind "$repository" opt/judge
mount --bind "$python" opt/python
mount --bind "$packages" opt/packages
if [ -S /run/docker.sock ]; then
    touch run/docker.sock
    mount --bind /run/docker.sock run/docker.sock
fi
ip link set lo up
rm -rf etc/systemd/system/*.wants etc/systemd/system/*.requires
cat > etc/systemd/system/guest.target <<END
[Unit]
Requires=basic.target
After=basic.target
END
grep -q ^judge: etc/passwd || echo "judge:x:970:970::/srv/judge:/usr/sbin/nologin" >> etc/passwd
grep -q ^judge: etc/group || echo "judge:x:970:" >> etc/group
grep -q ^docker: etc/group || echo "docker:x:971:" >> etc/group
rm -rf srv/judge
mkdir -p srv/judge/.venv/bin
cat > srv/judge/.venv/bin/judge <<END
#!/bin/sh
export LD_LIBRARY_PATH=/opt/python/lib PYTHONHOME=/opt/python PYTHONPATH=/opt/judge:/opt/packages
exec /opt/python/bin/python3 -m judge.cli "\$@"
END
chmod 755 srv/judge/.venv/bin/judge
chown -R 970:970 srv/judge
cp "$repository"/scripts/systemd/*.service etc/systemd/system/
mkdir old
pivot_root . old
exec env -i container=judge PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot . \
    sh -c 'umount -l /old && exec /lib/systemd/systemd --system --unit=guest.target --show-status=no'
