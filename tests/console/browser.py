"""A real Chromium, led by its driver (chromium-driver and python3-selenium of Debian)."""

import contextlib

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

PATIENCE_S = 20


class Browser:
    def __init__(self, url, width=1440, height=900, language="en"):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                         f"--window-size={width},{height}", f"--lang={language}"):
            options.add_argument(argument)
        options.add_experimental_option("prefs", {"intl.accept_languages": language})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.url = url

    def __enter__(self):
        return self

    def __exit__(self, *error):
        with contextlib.suppress(Exception):
            self.driver.quit()

    def open(self, path):
        self.driver.get(self.url + path)
        return self

    def wait(self, condition, what, within_s=PATIENCE_S):
        WebDriverWait(self.driver, within_s, poll_frequency=0.05).until(lambda _: condition(), what)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def type(self, selector, text):
        field = self.find(selector)
        field.clear()
        field.send_keys(text)

    def press(self, selector):
        """Presses a button or a link, and waits until another page is there."""
        page = self.find("html")
        self.find(selector).click()
        self.wait(lambda: self._is_gone(page), f"another page after {selector}")

    @staticmethod
    def _is_gone(element):
        try:
            element.is_enabled()
            return False
        except Exception:  # noqa: BLE001  (whichever of the driver's: the element is of a page that is gone)
            return True

    @property
    def text(self):
        return self.find("body").text

    @property
    def path(self):
        return self.driver.current_url.removeprefix(self.url)

    def complaints(self):
        """What the browser found wrong with the pages: a policy that was violated, a script that failed. Refusals that a test asks for are none."""
        return [entry["message"] for entry in self.driver.get_log("browser")
                if entry["level"] == "SEVERE" and "Failed to load resource" not in entry["message"]]
