"""The man page and the shells' completion know every command and option that --help names: each is asked, not searched, where it can
be."""
import functools
import os
import re
import shutil
import subprocess
import time

import pytest

from command import open_terminal

PATHS = {"FILE", "PATH", "FOLDER"}
CHOICES = {("analyze", "--bos"): {"auto", "always", "never"}, ("analyze", "--dtype"): {"float32", "float64", "bfloat16"},
           ("analyze", "--only"): {"summary"}, ("", "--theme"): {"dark", "light"}, ("train", "--device"): {"cpu", "cuda"}}


@pytest.fixture(scope="module")
def help_of(program):
    """help_of("analyze") → {option: type name or ""} of its --help, under "commands" the names of the commands."""
    @functools.cache
    def ask(command):
        text = subprocess.run([program, *([command] if command else []), "--help"], capture_output=True, text=True, check=True).stdout
        options = {}
        for names, value in re.findall(r"^  (-[\w,-]+)(?: (?!Excludes|Needs)([A-Z]\S*))?", text, re.M):
            options |= {name: value or "" for name in names.split(",")}
        commands = re.findall(r"^  (\w+)", text.partition("Subcommands:")[2].partition("Exit codes")[0], re.M)
        assert "--help" in options
        return options, commands

    return ask


@pytest.fixture(scope="module")
def everything(help_of):
    """(command, option, type name) of each there is; "" stands for no command."""
    commands = help_of("")[1]
    assert len(commands) >= 12 and "analyze" in commands
    found = [(c, o, v) for c in ["", *commands] for o, v in help_of(c)[0].items()]
    assert len(found) > 100
    return found


@pytest.fixture(scope="module")
def page(program):
    return subprocess.run([program, "man"], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def scripts(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("completion")
    for shell, name in {"bash": "headroom.bash", "zsh": "_headroom", "fish": "headroom.fish"}.items():
        out = subprocess.run([program, "completion", shell], capture_output=True, text=True, check=True).stdout
        (folder / name).write_text(out)
    for name in ("run.h5", "two words.h5"):
        (folder / name).write_text("")
    (folder / "folder").mkdir()
    return folder


def need(*names):
    for name in names:
        if not shutil.which(name):
            pytest.skip(f"no {name} here; tests/run.sh installs it")


def test_man_page_names_every_option(page, everything):
    sections = dict(re.findall(r'^\.SS "headroom (\w+)"\n(.*?)(?=^\.S[SH])', page, re.M | re.S))
    sections[""] = page.partition(".SH OPTIONS\n")[2].partition(".SH COMMANDS")[0]
    for command, option, value in everything:
        entries = [line for line in sections[command].splitlines() if "\\fB" + option.replace("-", "\\-") + "\\fR" in line]
        assert len(entries) == 1, (command, option)
        if ":{" in value:
            for choice in re.search(r"\{(.*)\}", value)[1].split(","):
                assert choice.replace("-", "\\-") in entries[0], (command, option, choice)
        elif value:
            assert "\\fI" in entries[0], (command, option, value)
    for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "ENVIRONMENT", "FILES"):
        assert f".SH {section}\n" in page


def test_man_page_is_sound(page, tmp_path):
    need("mandoc")
    file = tmp_path / "headroom.1"
    file.write_text(page)
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", file], capture_output=True, text=True)
    assert lint.returncode == 0 and not lint.stdout, lint.stdout
    text = subprocess.run(["mandoc", "-T", "utf8", file], capture_output=True, text=True, check=True).stdout
    text = re.sub(r".\x08", "", text)
    assert "headroom - what every attention head" in text and "--what-if" in text and "\\f" not in text


def bash(folder, *words):
    """What bash would offer for the last of these words."""
    need("bash")
    line = " ".join("'" + word + "'" for word in words)
    script = (f"source headroom.bash; complete -p headroom >&2; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _headroom; "
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, cwd=folder, check=True)
    assert "-F _headroom headroom" in done.stderr
    return set(done.stdout.split("\n")) - {""}


def test_bash_offers_commands_options_choices_and_files(scripts, help_of, everything):
    commands = set(help_of("")[1])
    assert commands <= bash(scripts, "headroom", "") and bash(scripts, "headroom", "ana") == {"analyze"}
    for command in ["", *commands]:
        words = ["headroom", *([command] if command else [])]
        assert bash(scripts, *words, "-") == set(help_of(command)[0]), command
    for (command, option), choices in CHOICES.items():
        words = ["headroom", *([command] if command else []), option]
        assert bash(scripts, *words, "") == choices and bash(scripts, *words, "=", "") == choices
    assert bash(scripts, "headroom", "completion", "") == {"bash", "zsh", "fish"}
    assert bash(scripts, "headroom", "inspect", "two") == {"two words.h5"}
    assert bash(scripts, "headroom", "analyze", "--text", "") == set()
    for command, option, value in {(c, o, v) for c, o, v in everything if v in PATHS}:
        words = ["headroom", *([command] if command else []), option, ""]
        assert bash(scripts, *words) == ({"folder"} if value == "FOLDER" else set(os.listdir(scripts))), words


def test_options_that_name_files_say_so(everything):
    """A new option with a path is completed only if its value is called one."""
    named = re.compile(r"-(file|folder|output|assets|script|checkpoint|base|config|model|lines|data|from|against|plan|slurm)$")
    for command, option, value in everything:
        assert bool(named.search(option)) == (value in PATHS) or option == "-o", (command, option, value)


def test_fish_offers_the_same(scripts, help_of):
    need("fish")
    commands = help_of("")[1]
    lines = [f"headroom {c} -" for c in commands] + [f"headroom {c} --" for c in commands] + ["headroom --", "headroom an"]
    lines += [f"headroom {c} {o} " for c, o in CHOICES] + ["headroom inspect two", "headroom reproduce -o "]
    script = "source headroom.fish\n" + "".join(f"echo '> {line}'; complete -C '{line}'\n" for line in lines)
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, cwd=scripts, check=True,
                          env={**os.environ, "HOME": str(scripts)})
    assert not done.stderr, done.stderr
    offered = {}
    for line in done.stdout.splitlines():
        if line.startswith("> "):
            offered[line[2:]] = here = set()
        elif line:
            here.add(line.split("\t")[0].rstrip("/"))
    for command in commands:
        wanted = set(help_of(command)[0])
        assert wanted <= offered[f"headroom {command} -"] | offered[f"headroom {command} --"], command
    assert {o for o in help_of("")[0] if o.startswith("--")} <= offered["headroom --"]
    assert offered["headroom an"] == {"analyze"}
    for (command, option), choices in CHOICES.items():
        assert offered[f"headroom {command} {option} "] == choices, (command, option)
    assert "two words.h5" in offered["headroom inspect two"] or "two\\ words.h5" in offered["headroom inspect two"]
    assert offered["headroom reproduce -o "] == {"folder"}


def test_zsh_describes_every_option(scripts, everything):
    """What the function hands to _arguments, which does the rest."""
    need("zsh")
    assert subprocess.run(["zsh", "-n", scripts / "_headroom"], capture_output=True, text=True).stderr == ""
    script = "compdef() {}; _arguments() { print -rl -- \"$@\" }; source ./_headroom\n"
    commands = dict.fromkeys(c for c, _, _ in everything)
    for command in commands:
        script += f"print -r '> {command}'; words=(headroom '{command}' ''); CURRENT=3; _headroom\n"
    done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, cwd=scripts, check=True)
    assert not done.stderr, done.stderr
    parts = re.split(r"^> (.*)\n", done.stdout, flags=re.M)[1:]
    handed = dict(zip(parts[::2], parts[1::2]))
    for command, option, value in everything:
        entries = [line for line in handed[command].splitlines() if re.match(r"(\([^)]*\)|\*)" + re.escape(option) + r"\[", line)]
        assert len(entries) == 1, (command, option, handed[command])
        assert ("_files" in entries[0]) == (value in PATHS), entries
        for choice in CHOICES.get((command, option), ()):
            assert re.search(rf"[( ]{choice}[ )]", entries[0]), entries


def test_zsh_completes_on_a_terminal(scripts):
    need("zsh")
    leader, follower = open_terminal()
    with subprocess.Popen(["zsh", "-f", "-i"], stdin=follower, stdout=follower, stderr=follower, cwd=scripts, start_new_session=True,
                          env={**os.environ, "TERM": "dumb", "PS1": "% "}) as shell:
        os.close(follower)
        try:
            os.write(leader, b"unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -D; source ./_headroom; "
                             b"print -r ready$((1 + 1))\n")
            wait_for(leader, b"ready2")
            for typed, wanted in ((b"headroom analyze --lay\t", b"--layers "), (b"headroom completion fi\t", b"completion fish "),
                                  (b"headroom ana\t", b"analyze "), (b"headroom inspect tw\t", b"two\\ words.h5 ")):
                os.write(leader, typed)
                wait_for(leader, wanted)
                os.write(leader, b"\x15")
        finally:
            shell.kill()
    os.close(leader)


def wait_for(leader, wanted, seconds=20.0):
    os.set_blocking(leader, False)
    seen, end = b"", time.monotonic() + seconds
    while wanted not in seen:
        assert time.monotonic() < end, (wanted, seen)
        try:
            seen += os.read(leader, 65536)
        except BlockingIOError:
            time.sleep(0.02)
