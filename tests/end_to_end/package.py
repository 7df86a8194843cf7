"""Tests the results of `cpack` and `cmake --install`: they run elsewhere, name their contents, and complete in bash."""
import functools
import pathlib
import re
import shutil
import subprocess
import tempfile

from program import Skipped, test


SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "cmake/identity.cmake"


@test
def the_identity_of_a_build_is_its_commit(program):
    source, output = program.folder / "source", program.folder / "identity.cpp"
    source.mkdir()

    def identity():
        subprocess.run(["cmake", "-D", f"SOURCE={source}", "-D", "VERSION=1.2.3", "-D", f"OUTPUT={output}", "-P", SCRIPT],
                       check=True)
        return re.search(r'"([^"]*)"; }', output.read_text()).group(1)

    def git(*words):
        done = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=source, check=True,
                              capture_output=True, text=True)
        return done.stdout.strip()

    assert identity() == "1.2.3"  # a tarball
    git("init")
    (source / "file").write_text("1")
    git("add", "file")
    git("commit", "-m", "first")
    commit = git("rev-parse", "--short", "HEAD")
    assert identity() == f"1.2.3+{commit}"
    written = output.stat().st_mtime_ns
    assert identity() == f"1.2.3+{commit}" and output.stat().st_mtime_ns == written, "written again"
    (source / "file").write_text("2")
    assert identity() == f"1.2.3+{commit}-dirty"
    git("commit", "-a", "-m", "second")
    git("tag", "v1.2.3")
    assert identity() == "1.2.3"


@functools.cache
def room():
    return tempfile.TemporaryDirectory(prefix="sawtooth-package-")


@functools.cache
def unpacked(path):
    build = pathlib.Path(path).parent
    if not (build / "CPackConfig.cmake").exists() or not shutil.which("cpack"):
        raise Skipped("the program is not in its build folder, or cpack is missing")
    packages = pathlib.Path(room().name) / "packages"
    subprocess.run(["cpack", "-G", "TGZ", "-B", packages], cwd=build, check=True, capture_output=True)
    package, = packages.glob("sawtooth-*.tar.gz")
    subprocess.run(["tar", "-xzf", package, "-C", room().name], check=True)
    folder, = pathlib.Path(room().name).glob("sawtooth-*/")
    shutil.rmtree(packages)
    return folder


def in_bare_environment(folder, *words):
    done = subprocess.run([folder / "bin/sawtooth", *words], env={}, cwd="/", capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    return done.stdout


@test
def an_unpacked_package_runs_elsewhere(program):
    folder = unpacked(program.path)
    assert in_bare_environment(folder, "--version") == program("--version").out
    table = in_bare_environment(folder, "run", "scan", "--repeat", "1", "--set", "length=64", "--cache-dir",
                                program.environment["XDG_CACHE_HOME"])
    assert "lookback" in table, table
    linked = subprocess.run(["ldd", folder / "bin/sawtooth"], capture_output=True, text=True, check=True).stdout
    for name, found in re.findall(r"^\s*(\S+) => (\S+)", linked, re.M):
        runtime = re.match(r"(ld-linux|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so)", name)
        assert runtime or found.startswith(str(folder)), (name, found)
    assert list(folder.glob("share/sawtooth/assets/fonts/*.ttf"))


@test
def a_package_names_every_library_and_font_in_it(program):
    folder = unpacked(program.path)
    notices = (folder / "share/doc/sawtooth/copyright").read_text(encoding="utf-8")
    libraries = [p.name for p in folder.glob("lib/sawtooth/*") if not p.is_symlink()]
    assert len(libraries) > 3, libraries
    for name in libraries:
        title = notices.find(f"\nlib/sawtooth/{name}\n")
        assert title >= 0, f"{name} is not in the notices"
        assert "opyright" in notices[title:title + 4000], f"{name} has no text"
    linked = re.findall(r"^\| \[(.*?)\].*\| (?:linked|font) \|", notices, re.M)
    assert len(linked) > 6, linked
    for word in (*linked, "SIL OPEN FONT LICENSE", "Apache License", "MIT License", "Kristian Høgsberg"):
        assert notices.count(word) > (1 if word in linked and word != "glad" else 0), word


@test
def a_package_has_what_a_desktop_looks_for(program):
    share = unpacked(program.path) / "share"
    entry = (share / "applications/sawtooth.desktop").read_text()
    icon, = re.findall(r"^Icon=(\w+)$", entry, re.M)
    assert (share / f"icons/hicolor/scalable/apps/{icon}.svg").exists()
    version, = re.findall(r"^sawtooth (\d+\.\d+\.\d+)", program("--version").out)
    for file, form in (("metainfo/invalid.sawtooth.Sawtooth.metainfo.xml", f'<release version="{version}"'),
                       ("doc/sawtooth/CHANGELOG.md", f"## [{version}]"), ("mime/packages/sawtooth.xml", "*.npz"),
                       ("man/man1/sawtooth.1", ".TH SAWTOOTH 1"), ("zsh/vendor-completions/_sawtooth", "#compdef sawtooth"),
                       ("fish/vendor_completions.d/sawtooth.fish", "complete --command sawtooth")):
        assert form in (share / file).read_text(encoding="utf-8"), (file, form)


def completed(folder, line):
    """The completions that bash offers at the end of the line, whose words it also splits at =."""
    words = re.findall(r"=|[^\s=]+", line) + ([""] if line.endswith(" ") else [])
    script = """
        source "$1/share/bash-completion/completions/sawtooth"
        compopt() { :; } # bash has it only inside a completion
        COMP_WORDS=("${@:2}")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _sawtooth "$1/bin/sawtooth"
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    done = subprocess.run(["bash", "-c", script, "bash", folder, *words], capture_output=True, text=True, check=True)
    assert done.stderr == "", done
    return done.stdout.split()


@test
def bash_completes_a_command_line(program):
    folder = unpacked(program.path)
    for line, offers in (("sawtooth sw", ["sweep"]),
                         ("sawtooth run at", ["attention"]),
                         ("sawtooth run scan --rep", ["--repeat"]),
                         ("sawtooth run scan --set comp", ["compensated="]),
                         ("sawtooth run scan --set compensated=", ["true", "false"]),
                         ("sawtooth run scan --set compensated=t", ["true"]),
                         ("sawtooth run scan --variant look", ["lookback"]),
                         ("sawtooth run scan --variant=look", ["lookback"]),
                         ("sawtooth run scan --cache ", ["cold", "hot"]),
                         ("sawtooth run scan --input ", [])):
        assert completed(folder, line) == offers, (line, completed(folder, line))
