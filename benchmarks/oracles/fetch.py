#!/usr/bin/env python3
"""Fetches sources for compare.py from package registries: one folder of files per language.

    fetch.py DIR [LANGUAGE …]

The clients of the registries do the work: pip, npm, cargo, and apt-get for what Debian packages as source text. A
client that is not installed leaves its languages out, with a word on it.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

# Language → client, packages, endings of files.
SOURCES = {
    "ada": ("apt", ["gnat-12"], [".adb"]),
    "awk": ("apt", ["gawk", "cppcheck"], [".awk"]),
    "bash": ("apt", ["bash-completion", "git", "dkms"], [".sh", ".bash"]),
    "c": ("cargo", ["zstd-sys@2.0.13", "libz-sys@1.1.20", "onig_sys@69.8.1"], [".c"]),
    "cmake": ("apt", ["cmake-data", "extra-cmake-modules"], [".cmake"]),
    "commonlisp": ("apt", ["cl-alexandria", "cl-ppcre", "cl-babel"], [".lisp"]),
    "cpp": ("cargo", ["esaxx-rs@0.1.10", "link-cplusplus@1.0.9", "snmalloc-sys@0.3.7"], [".cc", ".cpp", ".hpp"]),
    "csharp": ("npm", ["react-native-windows@0.76.2"], [".cs"]),
    "css": ("npm", ["bootstrap@5.3.3", "bulma@1.0.2", "normalize.css@8.0.1"], [".css"]),
    "dlang": ("apt", ["libphobos2-ldc-shared-dev"], [".d"]),
    "emacslisp": ("apt", ["elpa-magit", "elpa-dash", "elpa-projectile"], [".el"]),
    "erlang": ("apt", ["erlang-src"], [".erl"]),
    "fortran": ("pip", ["numpy==1.26.4"], [".f90", ".f"]),
    "go": ("apt", ["golang-github-spf13-cobra-dev", "golang-github-gorilla-mux-dev", "golang-gopkg-yaml.v3-dev"], [".go"]),
    "haxe": ("apt", ["haxe"], [".hx"]),
    "java": ("npm", ["react-native@0.76.5", "cordova-android@13.0.0"], [".java"]),
    "javascript": ("npm", ["express@4.21.1", "commander@12.1.0", "winston@3.17.0", "yargs@17.7.2"], [".js"]),
    "kotlin": ("npm", ["react-native@0.76.5"], [".kt"]),
    "lua": ("apt", ["lua-penlight", "lua-socket", "lua-busted"], [".lua"]),
    "make": ("apt", ["cdbs", "dpkg-dev", "libcurl4-doc", "linux-kbuild-6.1"], [".mk"]),
    "markdown": ("npm", ["npm@10.9.0", "marked@15.0.2"], [".md"]),
    "matlab": ("apt", ["octave-statistics", "octave-image"], [".m"]),
    "objc": ("npm", ["react-native@0.76.5", "cordova-ios@7.1.1"], [".m"]),
    "ocaml": ("apt", ["libcmdliner-ocaml-dev", "libfmt-ocaml-dev"], [".ml"]),
    "pascal": ("apt", ["castle-game-engine-src"], [".pas"]),
    "perl": ("apt", ["libmojolicious-perl", "libmoose-perl", "libdatetime-perl"], [".pm"]),
    "php": ("apt", ["php-symfony-console", "php-monolog", "php-twig"], [".php"]),
    "powershell": ("pip", ["ansible-core==2.17.6"], [".ps1", ".psm1"]),
    "proto": ("apt", ["libprotobuf-dev"], [".proto"]),
    "puppet": ("apt", ["puppet-module-puppetlabs-apache", "puppet-module-puppetlabs-mysql"], [".pp"]),
    "python": ("pip", ["requests==2.32.3", "attrs==24.2.0", "rich==13.9.4", "networkx==3.4.2"], [".py"]),
    "restructuredtext": ("apt", ["python3-doc", "debian-policy"], [".rst", ".txt"]),
    "ruby": ("apt", ["ruby-sequel", "ruby-thor", "ruby-faraday"], [".rb"]),
    "rust": ("cargo", ["regex@1.11.1", "serde_json@1.0.132", "hyper@1.5.0"], [".rs"]),
    "scheme": ("apt", ["guile-library", "guile-json"], [".scm"]),
    "sql": ("apt", ["postgresql-15", "pgtap"], [".sql"]),
    "style": ("npm", ["bootstrap@5.3.3", "bulma@1.0.2"], [".scss"]),
    "systemverilog": ("apt", ["yosys"], [".v"]),
    "tcl": ("apt", ["tcllib", "tk8.6"], [".tcl"]),
    "tsx": ("npm", ["@radix-ui/themes@3.1.4", "react-bootstrap@2.10.5"], [".tsx"]),
    "typescript": ("npm", ["rxjs@7.8.1", "zustand@4.5.5", "type-fest@4.26.1"], [".ts"]),
    "vhdl": ("apt", ["ghdl-common"], [".vhdl", ".vhd"]),
    "vimscript": ("apt", ["vim-runtime", "vim-ultisnips"], [".vim"]),
}


def run(command, folder):
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def pip(package, folder):
    run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", package], folder)
    for wheel in [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]:
        shutil.unpack_archive(wheel, folder / wheel.stem, "zip" if wheel.suffix == ".whl" else "gztar")


def npm(package, folder):
    name = run(["npm", "pack", "--silent", package], folder).split()[-1]
    shutil.unpack_archive(folder / name, folder / name.removesuffix(".tgz"), "gztar")


def apt(package, folder):
    run(["apt-get", "download", package], folder)
    for archive in folder.glob("*.deb"):
        run(["dpkg", "-x", archive, folder / archive.stem], folder)
        archive.unlink()


def cargo(package, folder):
    name, version = package.split("@")
    (folder / "src").mkdir()
    (folder / "src/lib.rs").touch()
    manifest = f'[package]\nname = "sources"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n{name} = "={version}"\n'
    (folder / "Cargo.toml").write_text(manifest)
    run(["cargo", "vendor", "--quiet", "vendor"], folder)
    for other in (folder / "vendor").iterdir():
        if other.name != name:
            shutil.rmtree(other)


CLIENTS = {"pip": (pip, "pip3"), "npm": (npm, "npm"), "apt": (apt, "apt-get"), "cargo": (cargo, "cargo")}


def main():
    out = pathlib.Path(sys.argv[1])
    wanted = sys.argv[2:] or SOURCES
    for language in wanted:
        client, packages, endings = SOURCES[language]
        fetch, program = CLIENTS[client]
        if (out / language).exists():
            continue
        if shutil.which(program) is None:
            print(f"{language}: there is no {program}", file=sys.stderr)
            continue
        count = 0
        for package in packages:
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                try:
                    fetch(package, folder)
                except subprocess.CalledProcessError as error:
                    print(f"{language}: {package}: {error.stderr.strip()}", file=sys.stderr)
                    continue
                for path in sorted(folder.rglob("*")):
                    if path.is_file() and not path.is_symlink() and path.suffix in endings and ".min." not in path.name:
                        place = out / language / package.replace("/", "+") / path.relative_to(folder)
                        place.parent.mkdir(parents=True, exist_ok=True)
                        shutil.copyfile(path, place)
                        count += 1
        print(f"{language}: {count} files", flush=True)


if __name__ == "__main__":
    main()
