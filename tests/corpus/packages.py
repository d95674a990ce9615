"""The packages, pinned, and how they come onto this machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

PACKAGES = (
    "tensor2tensor==1.15.7",
    "dm-sonnet==1.36",
    "tensorflow-gan==2.1.0",
    "tf-slim==1.1.0",
    "adanet==0.9.0",
    "kfac==0.2.4",
    "OpenNMT-tf==1.25.3",
    "tensorpack==0.11",
    "tensorflow-estimator==1.15.1",
    "dltk==0.2.1",
    "mesh-tensorflow==0.1.21",
    "tf-models-official==2.2.0",
    "magenta==1.3.1",
    "tensorforce==0.5.5",
    "luminoth==0.2.3",
)


class DownloadError(Exception):
    """A package that pip does not hand over, such as one whose setup.py no longer runs."""


def fetch(requirement: str, folder: Path) -> Path:
    """Downloads a package, without what it depends on, and unpacks it.

    Args:
      requirement: Name and version, as pip writes them.
      folder: Where downloads and trees are kept; what is there already is not downloaded again.

    Returns:
      The folder of its files.

    Raises:
      DownloadError: if pip cannot download it.
    """
    tree = folder / "trees" / requirement
    if tree.is_dir():
        return tree
    archives = folder / "archives" / requirement
    archives.mkdir(parents=True, exist_ok=True)
    if not any(archives.iterdir()):
        _download(requirement, archives)
    (archive,) = archives.iterdir()
    partial = tree.with_name(f"{tree.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as file:
            file.extractall(partial)
    else:
        with tarfile.open(archive) as file:
            file.extractall(partial, filter="data")
    partial.rename(tree)
    return tree


def _download(requirement: str, archives: Path) -> None:
    # A wheel where there is one: to find the name of a source archive, pip would run its setup.py.
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-qq", "--no-deps"]
    where = ["--dest", str(archives), requirement]
    wheel = [*pip, "--only-binary", ":all:", "--python-version", "3.7", *where]
    if subprocess.run(wheel, stderr=subprocess.DEVNULL, check=False).returncode:
        source = [*pip, "--no-binary", ":all:", "--no-build-isolation", *where]
        done = subprocess.run(source, capture_output=True, text=True, check=False)
        if done.returncode:
            archives.rmdir()
            raise DownloadError(f"pip could not download it: {done.stderr.strip().splitlines()[-1]}")
