"""Validates what `netloom study emit kubernetes` writes, and runs its container for every index."""

import os
import pathlib
import subprocess
import sys
import tempfile

import kubernetes_validate
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATH = f"{ROOT / 'target/release'}:{os.environ['PATH']}"
# The first version in which every field of the manifest is stable, and the newest known one.
VERSIONS = ["1.31", ".".join(kubernetes_validate.latest_version().split(".")[:2])]
STUDY = """netloom = 1
about = "a\u2028---\u2028kind: Pod\u2028b\u0085c"
[topology]
kind = "fat-tree"
arity = 2
levels = 2
[[traffic]]
name = "two words: yes"
load = 0.4
[measure]
length = "20 us"
repeat = 2
[study.axes]
"traffic.load" = [0.2, 0.5]
"""


def call(*line, accepted=(0,), stdout_only=False, **environment):
    ended = subprocess.run(
        line, capture_output=True, text=True, timeout=120, env={**os.environ, "PATH": PATH, **environment}
    )
    if ended.returncode not in accepted:
        sys.exit(f"{line} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout if stdout_only else ended.stdout + ended.stderr


def emitted(*options):
    text = call("netloom", "study", "emit", "kubernetes", "study.toml", "--image", "registry.example/netloom:1", *options, stdout_only=True)
    return list(yaml.safe_load_all(text))


def valid(resources, name):
    for version in VERSIONS:
        for resource in resources:
            try:
                kubernetes_validate.validate(resource, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                sys.exit(f"{name}: {resource['kind']}, Kubernetes {version}: {list(error.path)}: {error.message}")
    kinds = ", ".join(resource["kind"] for resource in resources)
    print(f"{name}: {kinds} are valid for Kubernetes {' and '.join(VERSIONS)}")


def of_kind(resources, kind):
    return next(resource for resource in resources if resource["kind"] == kind)


def job_runs(resources):
    """Runs every index of the Job, the first one last; the last one merges."""
    job = of_kind(resources, "Job")["spec"]
    (container,) = job["template"]["spec"]["containers"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    for volume, at in (("study", "study"), ("results", "results")):
        pathlib.Path(at).mkdir()
        assert any(volume == one["name"] for one in job["template"]["spec"]["volumes"])
    for name, text in of_kind(resources, "ConfigMap")["data"].items():
        pathlib.Path("study", name).write_text(text)
    here = pathlib.Path.cwd()
    (script,) = container["args"]
    for volume, path in mounts.items():
        script = script.replace(f" {path}/", f" {here / volume}/")
    environment = {one["name"]: one["value"] for one in container["env"]}
    indices = list(range(job["completions"]))
    for index in [*indices[1:], indices[0]]:
        told = call(*container["command"], script, JOB_COMPLETION_INDEX=str(index), **environment)
        has_merged = pathlib.Path("results/study.out/results.csv").exists()
        if has_merged != (index == indices[0]):
            sys.exit(f"index {index} merged: {has_merged}\n{told}")
    return len(indices)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("study.toml").write_text(STUDY, encoding="utf-8")
        # An invalid manifest must be found.
        wrong = emitted()
        of_kind(wrong, "Job")["spec"]["completionmode"] = "Indexed"
        try:
            kubernetes_validate.validate(of_kind(wrong, "Job"), VERSIONS[-1], strict=True)
            sys.exit("a key that does not exist is not found")
        except kubernetes_validate.ValidationError:
            pass
        valid(emitted("--claim", "scratch", "--parallelism", "2", "--shards", "9"), "with a claim of the user")
        valid(emitted("--storage", "1Ti", "--storage-class", "nfs"), "with a claim of its own")
        kinds = [resource["kind"] for resource in emitted()]
        if kinds != ["ConfigMap", "PersistentVolumeClaim", "Job"]:
            sys.exit(f"a line end in the text of the study makes other documents: {kinds}")
        resources = emitted("--shards", "3", "--cpus", "1", "--", "--set", "traffic.name=\"a  b\"")
        valid(resources, "with options")
        n = job_runs(resources)
        name = ("--set", "traffic.name=\"a  b\"")
        call("netloom", "run", "study.toml", *name, "-o", "one", "--progress", "none", accepted=(0, 5))
        for one in sorted(pathlib.Path("one").glob("*.csv")) + sorted(pathlib.Path("one").glob("*.parquet")):
            if one.read_bytes() != pathlib.Path("results/study.out", one.name).read_bytes():
                sys.exit(f"{one.name} differs from that of one process")
        print(f"{n} indices of the Job: the tables of one process")


main()
