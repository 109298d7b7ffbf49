# SPDX-License-Identifier: GPL-2.0-or-later
"""The page in a real browser: Cockpit without a login, and Chromium, both in the network namespace of the caller.

    with Page() as page:
        page.go("system", uuid)
        page.type("hostname", "web1.example.org")

Every wait has an end. Leaving the block fails if the browser's console has an error, or the page is wider than its
window.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

WAIT = int(os.environ.get("VIRT_SEED_WAIT", "60"))
WS = next(path for path in ("/usr/lib/cockpit/cockpit-ws", "/usr/libexec/cockpit-ws") if os.path.exists(path))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(condition, what, seconds=WAIT):
    """Returns what the condition does once that is true. An element that was replaced meanwhile is looked for again."""
    end = time.monotonic() + seconds
    while True:
        try:
            value = condition()
        except StaleElementReferenceException:
            value = None
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"after {seconds} s still not: {what}")
        time.sleep(0.1)


class Page:
    def __init__(self, width=1280, height=900, user=None):
        self.width, self.height, self.user = width, height, user
        self.server = self.driver = None
        self.home = tempfile.mkdtemp(prefix="virt-seed-browser.")
        self.ignored = []  # parts of messages in the console that are not the page's

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind, value, trace):
        try:
            if kind:
                self.describe()
            else:
                self.assert_clean()
        finally:
            self.stop()

    def start(self):
        port = free_port()
        command = [WS, "--no-tls", "--address", "127.0.0.1", "--port", str(port), "--local-session=cockpit-bridge"]
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": self.home}
        if self.user:
            environment.update(HOME=self.user["home"], XDG_RUNTIME_DIR=self.user["runtime"], USER="ann", LOGNAME="ann")
            number = str(self.user["id"])
            command = ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups"] + command
        self.log = open(os.path.join(self.home, "cockpit.log"), "w+")
        self.server = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                       cwd="/", start_new_session=True)
        wait_until(lambda: self.listens(port), "cockpit-ws listens")
        options = Options()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--disable-background-networking", "--force-device-scale-factor=1"):
            options.add_argument(word)
        options.add_argument(f"--user-data-dir={self.home}/profile")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        os.environ["HOME"] = self.home
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.set_page_load_timeout(WAIT)
        self.resize(self.width, self.height)
        self.url = f"http://127.0.0.1:{port}/cockpit/@localhost/virt-seed/index.html"
        self.shell_url = f"http://127.0.0.1:{port}/virt-seed"

    @staticmethod
    def listens(port):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    def stop(self):
        if self.driver:
            self.driver.quit()
        if self.server:
            # The bridge is in its process group.
            os.killpg(self.server.pid, signal.SIGTERM)
            self.server.wait(WAIT)
        shutil.rmtree(self.home, ignore_errors=True)

    def resize(self, width, height=900):
        """Chromium's window is at least 500 pixels wide, the page's viewport can be narrower."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    # --- where one is ---------------------------------------------------------------------------

    def go(self, *path):
        """Opens the list, or a domain: its connection and UUID."""
        self.driver.get(self.url + "#/" + "/".join(path))
        self.driver.refresh()
        shown = "#form" if len(path) > 1 else "#domains, #list-state:not(:empty)"
        wait_until(lambda: any(element.is_displayed() and "Reading" not in element.text for element in self.css(shown)),
                   f"the page has come up; it says: {self.text('failure')}")

    def element(self, name):
        return self.driver.find_element(By.ID, name)

    def css(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def shown(self, name):
        return self.element(name).is_displayed()

    def text(self, name):
        return self.element(name).text

    def wait_text(self, name, words, seconds=WAIT):
        wait_until(lambda: words in self.text(name), f"'{words}' in '{name}', which says: {self.text(name)}", seconds)

    # --- what one does --------------------------------------------------------------------------

    def type(self, name, text):
        """Replaces the text of a field, as one does who selects all of it and types."""
        field = self.scroll_to(self.element(name))
        field.click()
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text or Keys.DELETE)

    def click(self, name):
        button = self.element(name)
        wait_until(button.is_enabled, f"'{name}' is enabled; the page says: {self.text('buttons-hint')}")
        self.scroll_to(button).click()

    def scroll_to(self, element):
        """What is for saving lies over the end of the window."""
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        return element

    def choose(self, name, value):
        Select(self.element(name)).select_by_value(value)

    def editor(self, container, number=0):
        return self.css(f"#{container} textarea")[number]

    def write(self, container, text, number=0):
        """Replaces a document."""
        area = self.editor(container, number)
        area.send_keys(Keys.CONTROL, "a")
        area.send_keys(text)

    def checked(self):
        """Waits until what was typed has been checked; returns what the page says of it."""
        time.sleep(0.8)
        wait_until(lambda: self.text("checking") not in ("", "Checking …"), "the check ends")
        return self.text("checking")

    def save(self):
        self.click("save")
        wait_until(lambda: self.text("result") not in ("", "Saving …"), "saving ends")
        return self.text("result")

    # --- what must always be --------------------------------------------------------------------

    def console_errors(self):
        return [entry["message"] for entry in self.driver.get_log("browser")
                if entry["level"] == "SEVERE" and not any(word in entry["message"] for word in self.ignored)]

    def assert_fits(self):
        wide = self.driver.execute_script("return document.documentElement.scrollWidth")
        inner = self.driver.execute_script("return window.innerWidth")
        assert wide <= inner, f"the page is {wide} pixels wide in a window of {inner}"

    def assert_clean(self):
        errors = self.console_errors()
        assert not errors, f"the browser's console says: {errors}"
        self.assert_fits()

    def describe(self):
        """Prints what the page shows, for a test that has failed."""
        try:
            print("the page:", self.driver.find_element(By.TAG_NAME, "body").text)
            print("the console:", self.driver.get_log("browser"))
            picture = os.environ.get("VIRT_SEED_FAILURE_PICTURE")
            if picture:
                self.driver.save_screenshot(picture)
        finally:
            self.log.seek(0)
            print("cockpit-ws:", self.log.read())
