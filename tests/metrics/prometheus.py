"""A real Prometheus that scrapes one monitor every second."""

import json
import pathlib
import subprocess
import tempfile
import urllib.parse
import urllib.request

import yaml

from cartbus_system import end_with_parent, free_port, wait_until


class Prometheus:
    def __init__(self, target_port, rules):
        self.folder = tempfile.TemporaryDirectory(prefix="cartbus-prometheus-")
        self.port = free_port()
        config = pathlib.Path(self.folder.name) / "prometheus.yml"
        config.write_text(yaml.safe_dump({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(rules)],
            "scrape_configs": [{"job_name": "cartbus", "static_configs": [{"targets": [f"127.0.0.1:{target_port}"]}]}]}))
        self.log_path = pathlib.Path(self.folder.name) / "log"
        with open(self.log_path, "wb") as log:
            self.popen = subprocess.Popen(
                ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder.name}/data", f"--web.listen-address=127.0.0.1:{self.port}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=end_with_parent)
        wait_until(self.scrapes, "Prometheus scrapes the monitor", within_s=60)

    def get(self, path, **query):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=20) as answer:
            return json.load(answer)["data"]

    def query(self, expression):
        """[(labels, value)]"""
        return [(one["metric"], float(one["value"][1])) for one in self.get("query", query=expression)["result"]]

    def scrapes(self):
        if self.popen.poll() is not None:
            raise AssertionError(f"Prometheus ended: {self.log_path.read_text()[-2000:]}")
        try:
            return [value for _, value in self.query('up{job="cartbus"}')] == [1]
        except OSError:
            return False

    def close(self):
        self.popen.terminate()
        self.popen.wait(20)
        self.folder.cleanup()
