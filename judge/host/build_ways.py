"""Two ways to an image's root file system: by the Engine from a base image, or from this host's own packages.

Both run images/rootfs.sh on the same lists of packages. Their files are equal where the versions of packages are.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from judge.base.errors import HostError, InputError
from judge.base.owner import Fate, Owner
from judge.base.resources import DEFAULT_BASE
from judge.base.text import printable, suggest
from judge.host.distribution import host_release, release_fields
from judge.host.dockerfile import BUILD_ARGUMENTS, BUILDER, COMPILER, added_files, context, write_files
from judge.host.root_tar import copy_layer, reader
from judge.sandbox.box import ImageWay
from judge.sandbox.docker.images import engine_client, find_image, find_images, remove_unused, tar_of
from judge.sandbox.runtimes import INIT_SOURCES, ROOTFS_SCRIPT, ImageRecipe, recipes
from judge.sandbox.static_builds import Progress, compile_on_host

if TYPE_CHECKING:
    import docker

COMPILER_TAG = "judge/compiler:1"
COMPILER_ROOT = "/rootfs"
BUILD_TIMEOUT_S = 1800.0
"""The Engine is silent while a step prints nothing."""
PULL_SILENCE_S = 20.0
"""Longest wait for a registry's first answer, and between two."""

DISTRIBUTIONS = ("debian", "ubuntu")
_TAIL_LINES = 12
_PROXIES = ("http_proxy", "https_proxy", "no_proxy")
_REFERENCE = re.compile("(?!.*[.][.])[A-Za-z0-9][A-Za-z0-9._:/@-]{0,254}")
_CODENAME = re.compile("[a-z]{1,40}")
_RELEASE_BYTES = 1 << 16


def _words_of(variable: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(os.environ.get(variable, "")))
    except ValueError as error:
        raise InputError(f"{variable}: {error}: separate words by spaces and quote them as in a shell") from None


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How images are built; the default is set by variables of the environment."""

    way: str = field(default_factory=lambda: os.environ.get("JUDGE_IMAGES_WAY", ""))
    """Empty: `engine` where the Engine has the base image or can pull it, else `packages`."""
    base: str = field(default_factory=lambda: os.environ.get("JUDGE_IMAGES_BASE") or DEFAULT_BASE)
    build_args: tuple[str, ...] = field(default_factory=lambda: _words_of("JUDGE_IMAGES_BUILD_ARGS"))
    """`NAME=VALUE`, as of `docker build`: MIRROR, APT_OPTIONS, PIP_INDEX_URL, or a proxy."""

    def __post_init__(self) -> None:
        if self.way and self.way not in get_args(ImageWay):
            raise InputError(f"there is no way {self.way!r} to build images: name {' or '.join(get_args(ImageWay))}")
        if not _REFERENCE.fullmatch(self.base):
            raise InputError(f"{self.base!r} is no name of an image: name a base image such as {DEFAULT_BASE}")
        for each in self.build_args:
            name, is_given, _ = each.partition("=")
            if not is_given:
                raise InputError(
                    f"{each!r} is no build argument: write NAME=VALUE, such as MIRROR=http://mirror/debian"
                )
            if name not in BUILD_ARGUMENTS and name.lower() not in _PROXIES:
                raise InputError(f"there is no build argument {name!r}; {suggest(name, BUILD_ARGUMENTS)}")

    @classmethod
    def given(cls, way: str, base: str, build_args: Sequence[str]) -> BuildOptions:
        """Options of a command; those that are empty are set by the environment."""
        default = cls()
        return cls(way or default.way, base or default.base, tuple(build_args) or default.build_args)

    @property
    def is_default(self) -> bool:
        """Whether any way and base image is wanted."""
        return not self.way and self.base == DEFAULT_BASE

    def arguments(self) -> dict[str, str]:
        """Build arguments with the proxies of the environment."""
        proxies = {name: os.environ.get(name) or os.environ.get(name.upper(), "") for name in _PROXIES}
        given = dict(each.split("=", 1) for each in self.build_args)
        return {name: value for name, value in proxies.items() if value} | given


@dataclass(frozen=True, slots=True)
class PackagesWay:
    """This host's packages, by mmdebstrap, as root: in its user namespace it could not read a private home."""

    codename: str
    way: Literal["packages"] = "packages"

    @property
    def base(self) -> str:
        return self.codename

    def make(self, client: docker.DockerClient, recipe: ImageRecipe, scratch: Path) -> Path:
        """The root file system as a tar file in `scratch`. Raises HostError, and InputError for a wrong wheel."""
        del client
        added, tar = scratch / "added", scratch / "rootfs.tar"
        added.mkdir()
        write_files(added_files(recipe), added)
        if recipe.runs_agents:
            (added / "judge").mkdir(exist_ok=True)
            compile_on_host(sorted(INIT_SOURCES.glob("*.c")), added / "judge" / "init")
        if recipe.steps_path:
            shutil.copytree(recipe.steps_path, scratch / "steps")
            _run(recipe, [str(scratch / "steps" / "compile.sh")], {})
            shutil.copytree(scratch / "steps" / "added", added, dirs_exist_ok=True)
        inside = "/judge/inside/inside.sh" if recipe.steps else ""
        run_script(recipe, "build", str(tar), *recipe.packages, JUDGE_ADDED=str(added), JUDGE_INSIDE=inside)
        return tar


@dataclass(frozen=True, slots=True)
class EngineWay:
    """A base image, by a Dockerfile."""

    codename: str
    image: str
    """Id of the base image: its name may get another image during a build."""
    base: str
    """Digest of the base image."""
    options: BuildOptions
    way: Literal["engine"] = "engine"

    def make(self, client: docker.DockerClient, recipe: ImageRecipe, scratch: Path) -> Path:
        """As of PackagesWay."""
        tar = scratch / "rootfs.tar"
        image = self.build(client, recipe)
        try:
            with tar.open("wb") as file:
                copy_layer(client.api.get_image(image), file)
        finally:
            remove_unused(client, image)
        return tar

    def build(self, client: docker.DockerClient, recipe: ImageRecipe, target: str = "", tag: str = "") -> str:
        """Build the Dockerfile up to a stage. Returns the id of the image."""
        from docker.errors import BuildError

        has_bridge = any(network.name == "bridge" for network in client.networks.list(names=["bridge"]))
        try:
            image, _ = client.images.build(
                fileobj=tar_of(context(recipe)),
                custom_context=True,
                buildargs={**self.options.arguments(), "BASE": self.image, "BUILDER": Owner.me().encode()},
                network_mode=None if has_bridge else "host",
                labels=None if target else {BUILDER: Owner.me().encode()},
                target=target or None,
                tag=tag or None,
                pull=False,
                rm=True,
                forcerm=True,
            )
        except BuildError as error:
            log = "".join(str(each.get("stream", "")) for each in error.build_log)
            raise _failure(recipe, [*re.sub(r"\x1b\[\d*m", "", log).splitlines(), str(error.msg)]) from None
        return str(image.attrs["Id"])

    def build_compiler(self, client: docker.DockerClient) -> str:
        """Image with a compiler in /rootfs; later builds find it in the Engine's cache."""
        old = find_image(client, COMPILER_TAG)
        new = self.build(client, recipes()["native"], COMPILER, COMPILER_TAG)
        if old is not None and old.attrs["Id"] != new:
            remove_unused(client, str(old.attrs["Id"]))
        return new


Way = EngineWay | PackagesWay


def choose_way(client: docker.DockerClient, options: BuildOptions, say: Progress) -> Way:
    """The way by which this host builds images; reports which and why.

    Pulls the base image if the Engine lacks it. Raises HostError if neither way is possible, or not the one of the
    options; InputError for an unsuitable base image.
    """
    if options.way == "packages":
        return _packages_way()
    try:
        engine = find_engine_way(client, options, say)
    except MissingBaseError as missing:
        if not options.is_default:
            raise
        try:
            packages = _packages_way()
        except HostError as error:
            raise HostError(f"{missing}. Without a base image: {error}") from None
        say(f"images are built from this host's packages: {missing.why}")
        return packages
    if not options.way:
        say(f"images are built from the base image {options.base}, which the Engine has")
    return engine


class MissingBaseError(HostError):
    """The Engine has no base image and cannot pull it."""

    def __init__(self, base: str, reason: str) -> None:
        self.why = f"the Engine has no base image {base} and could not pull it ({reason})"
        super().__init__(
            f"{self.why}: load it (docker load), or name one of Debian or Ubuntu that the Engine has or can pull: "
            "judge images build --base IMAGE"
        )


def host_codename() -> str:
    """Release of this host's distribution; empty if it is neither Debian nor Ubuntu."""
    return _codename(release_fields(host_release()))


def _codename(fields: Mapping[str, str]) -> str:
    """Empty if they are of neither Debian nor Ubuntu, or name no release."""
    codename = fields.get("VERSION_CODENAME", "")
    return codename if fields.get("ID") in DISTRIBUTIONS and _CODENAME.fullmatch(codename) else ""


def _packages_way() -> PackagesWay:
    codename = host_codename()
    if not codename:
        raise HostError("images are built from packages on Debian and Ubuntu, but this host is neither")
    if shutil.which("mmdebstrap") is None:
        raise HostError("images are built from packages by mmdebstrap: apt-get install mmdebstrap")
    if os.geteuid() != 0:
        raise HostError("images are built from packages as root, but this user is not root")
    return PackagesWay(codename)


def find_engine_way(client: docker.DockerClient, options: BuildOptions, say: Progress) -> EngineWay:
    """Raises MissingBaseError, and InputError for an unsuitable base image."""
    image = find_image(client, options.base)
    if image is None:
        say(f"pulling the base image {options.base}, once")
        reason = _pull(options.base)
        image = find_image(client, options.base)
        if image is None:
            raise MissingBaseError(options.base, reason)
    machine = str(client.version()["Arch"])
    if image.attrs["Architecture"] != machine:
        raise InputError(
            f"the base image {options.base} is for {image.attrs['Architecture']}, but this host is {machine}"
        )
    id_ = str(image.attrs["Id"])
    container = client.api.create_container(id_, ["true"], labels={BUILDER: Owner.me().encode()})
    try:
        release = _file_of(client, container["Id"], "/usr/lib/os-release")
        has_apt = _file_of(client, container["Id"], "/usr/bin/apt-get") is not None
    finally:
        client.api.remove_container(container["Id"], v=True, force=True)
    fields = release_fields((release or b"").decode(errors="replace"))
    codename = _codename(fields)
    if not codename or not has_apt:
        found = printable(fields.get("PRETTY_NAME", "a system without /usr/lib/os-release"), 80)
        lacks = "apt-get" if not has_apt else "VERSION_CODENAME" if fields.get("ID") in DISTRIBUTIONS else ""
        raise InputError(
            f"the base image {options.base} is {found}{lacks and f' without {lacks}'}: images are built from Debian or "
            f"Ubuntu with apt, such as {DEFAULT_BASE}; name its image by --base IMAGE"
        )
    digests = [str(each).partition("@")[2] for each in image.attrs.get("RepoDigests") or ()]
    return EngineWay(codename, id_, min(digests, default=id_), options)


def _pull(base: str) -> str:
    """Returns the reason of a failure."""
    try:
        with engine_client(f"pull {base}", PULL_SILENCE_S) as client:
            for line in client.api.pull(base, stream=True, decode=True):
                if "error" in line:
                    return str(line["error"])
    except HostError as error:
        return str(getattr(error.__cause__, "explanation", None) or error.__cause__ or error)
    return "the registry has no such image for this machine"


def _file_of(client: docker.DockerClient, container: str, path: str) -> bytes | None:
    """The first bytes of a file; None if it is missing. Another kind of entry is an empty file."""
    from docker.errors import NotFound

    try:
        chunks, _ = client.api.get_archive(container, path)
    except NotFound:
        return None
    with tarfile.open(fileobj=reader(chunks), mode="r|") as archive:
        member = archive.next()
        file = None if member is None or not member.isfile() else archive.extractfile(member)
        return b"" if file is None else file.read(_RELEASE_BYTES)


def remove_stages(client: docker.DockerClient) -> None:
    """Remove the stages of this process's finished builds, and what killed ones left."""
    for container in client.api.containers(all=True, filters={"label": BUILDER}):
        if _is_over(container["Labels"][BUILDER]):
            client.api.remove_container(container["Id"], v=True, force=True)
    for image in find_images(client, BUILDER, dangling=True):
        if _is_over(image.labels[BUILDER]):
            remove_unused(client, str(image.attrs["Id"]))


def _is_over(owner: str) -> bool:
    try:
        return owner == Owner.me().encode() or Owner.decode(owner).fate() is Fate.GONE
    except ValueError:
        return False


def run_script(recipe: ImageRecipe, *words: str, **variables: str) -> None:
    """Run images/rootfs.sh on this host. Raises HostError, and InputError for a wrong wheel."""
    variables |= {"RELEASE": recipe.release, "PIP": f"{sys.executable} -P -m pip"}
    _run(recipe, [str(ROOTFS_SCRIPT), *words], variables)


def _run(recipe: ImageRecipe, command: list[str], variables: Mapping[str, str]) -> None:
    done = subprocess.run(
        command,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise _failure(recipe, done.stdout.splitlines())


def _failure(recipe: ImageRecipe, lines: list[str]) -> HostError | InputError:
    tail = "\n".join(lines[-_TAIL_LINES:])
    text = "\n".join(lines)
    if "DO NOT MATCH THE HASHES" in text:
        return InputError(f"a wheel of {recipe.name} does not match its hash in runtime.toml:\n{tail}")
    if "No module named pip" in text:
        return HostError(f"The wheels of {recipe.name} need pip: {sys.executable} -m ensurepip")
    if recipe.wheels and "No matching distribution" in text:
        return HostError(
            f"pip could not download the wheels of {recipe.name}; without access to an index, put the wheels next to "
            f"the runtime.toml. Its last lines:\n{tail}"
        )
    return HostError(f"The image {recipe.tag} could not be built; the last lines of the build:\n{tail}")
