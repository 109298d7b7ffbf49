#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What one does with the page: page.py STEPS [WORD...]. page.bats prepares the domains, and looks at the result."""

import os
import sys
import time

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser import WAIT, Page, wait_until

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx you@example.org"
BOOT = int(os.environ.get("VIRT_SEED_BOOT_SECONDS", "600"))


def tell(word):
    """Says to page.bats that it may go on, and waits for its answer."""
    print(word, flush=True)
    assert sys.stdin.readline().strip() == "go on"


def rows(page):
    return {row.find_element(By.TAG_NAME, "a").text: row.text for row in page.css("#rows tr")}


# --- the list ---------------------------------------------------------------------------------


def list_follows():
    with Page() as page:
        page.go()
        wait_until(lambda: set(rows(page)) == {"plain", "web1"}, "both domains are listed")
        assert "off" in rows(page)["plain"]
        tell("ready")
        wait_until(lambda: "running" in rows(page)["plain"], "the list shows that one runs", 10)
        wait_until(lambda: "web2" in rows(page), "the list shows a new domain", 10)


def names_are_text():
    with Page() as page:
        page.go()
        wait_until(lambda: any("<img" in name for name in rows(page)), "the name is shown as it is")
        assert not page.css("#rows img")


# --- the form ---------------------------------------------------------------------------------


def shows_the_request(uuid):
    with Page() as page:
        page.go("system", uuid)
        assert page.element("hostname").get_attribute("value") == "web1.example.org"
        assert "timezone: Europe/Vienna" in page.editor("user-data").get_attribute("value")
        assert page.element("nic-0-addresses").get_attribute("value") == "192.0.2.10/24"
        assert "instance-id" in page.text("others") and "machine-id" in page.text("others")
        assert not page.element("save").is_enabled()


def fill_in(page):
    page.type("hostname", "www.example.org")
    page.type("keys", KEY)
    page.type("user", "admin")
    page.type("timezone", "Asia/Tokyo")
    page.type("packages", "nginx git")
    page.type("nic-0-addresses", "192.0.2.20/24 2001:db8::20/64")
    page.type("nic-0-gateways", "192.0.2.1")
    page.type("nic-0-nameservers", "192.0.2.53")


def saves(uuid):
    with Page() as page:
        page.go("system", uuid)
        fill_in(page)
        page.write("user-data", "#cloud-config\ntimezone: Europe/Zurich # a < b & c\n")
        assert page.checked().startswith("0 errors")
        assert "user-data" in page.text("pending") and "first boot" in page.text("pending")
        assert "unsaved changes" in page.text("dirty") and not page.element("start").is_enabled()
        picture = os.environ.get("VIRT_SEED_PICTURE")
        if picture:
            take_picture(page, picture)
        assert "Saved." in page.save()
        assert page.text("dirty") == "" and page.element("start").is_enabled()
        assert page.element("packages").get_attribute("value") == "nginx git"


def take_picture(page, picture):
    page.driver.execute_script("window.scrollTo(0, 0); document.activeElement.blur()")
    page.resize(1000, 1400)
    time.sleep(0.5)
    page.driver.save_screenshot(picture)
    page.resize(1280)


def saves_into_an_empty_domain(uuid):
    with Page() as page:
        page.go("system", uuid)
        assert "no seed yet" in page.text("buttons-hint")
        page.type("keys", KEY)
        page.scroll_to(page.css("#modes input[value=interfaces]")[0]).click()
        page.type("nic-0-addresses", "192.0.2.10/24")
        page.checked()
        assert "Saved." in page.save()


def removes(uuid):
    with Page() as page:
        page.go("system", uuid)
        for name in ("hostname", "keys", "user", "timezone", "packages", "nic-0-addresses", "nic-0-gateways",
                     "nic-0-nameservers"):
            page.type(name, "")
        page.write("user-data", Keys.DELETE)
        page.checked()
        assert "Saved." in page.save()


def finds_while_typing(uuid):
    with Page() as page:
        page.go("system", uuid)
        # The definition has an empty line before the document, which the editor does not show.
        wait_until(lambda: [line.text for line in page.css("#user-data .gutter .warning")] == ["2"], "line 2 has a warning")
        page.write("user-data", "#cloud-config\nruncmd: [ls]\npackages: [nginx\n")
        marked = lambda: page.css("#user-data .gutter .error")
        wait_until(marked, "a line is marked")
        line = marked()[0].text
        assert line in ("3", "4"), line
        assert "not YAML" in page.css("#user-data .findings")[0].text
        # Its button leads there.
        page.scroll_to(page.css("#user-data .findings button")[0]).click()
        assert page.driver.switch_to.active_element == page.editor("user-data")
        # What cannot be saved stays in the form.
        assert "Error" in page.save()
        assert "packages: [nginx" in page.editor("user-data").get_attribute("value")
        page.write("user-data", "#cloud-config\npackages: [nginx]\n")
        wait_until(lambda: not marked(), "the mark is gone")
        page.type("hostname", "not a name")
        wait_until(lambda: page.css("[data-part~=hostname] .findings .error"), "the finding is at the host name")
        # A screen reader says it with the field.
        described = page.element("hostname").get_attribute("aria-describedby").split()
        assert page.css("[data-part~=hostname] .findings")[0].get_attribute("id") in described, described
        assert page.element("hostname").get_attribute("aria-invalid") == "true"
        page.click("discard")
        wait_until(lambda: page.text("dirty") == "", "the changes are discarded")
        wait_until(lambda: page.element("hostname").get_attribute("aria-invalid") == "false", "the mark is gone")


def asks_after_a_conflict(uuid):
    with Page() as page:
        page.go("system", uuid)
        page.type("hostname", "mine.example.org")
        page.checked()
        tell("ready")
        page.click("save")
        wait_until(lambda: page.shown("question"), "the page asks")
        page.click("question-no")
        page.wait_text("result", "nothing was saved")
        assert page.element("hostname").get_attribute("value") == "mine.example.org"
        tell("kept")
        page.click("save")
        wait_until(lambda: page.shown("question"), "the page asks again")
        page.click("question-yes")
        page.wait_text("result", "Saved.")


def asks_before_leaving(uuid):
    with Page() as page:
        page.go("system", uuid)
        page.type("hostname", "mine.example.org")
        page.click("back")
        wait_until(lambda: page.shown("question"), "the page asks")
        page.click("question-no")
        wait_until(lambda: not page.shown("question"), "the question is gone")
        assert page.element("hostname").get_attribute("value") == "mine.example.org"
        page.click("back")
        wait_until(lambda: page.shown("question"), "the page asks again")
        # As the browser's own button does.
        page.driver.execute_script("window.location.hash = '#/session'")
        time.sleep(0.5)
        page.click("question-no")
        time.sleep(0.5)
        assert not page.shown("question") and page.element("connection").get_attribute("value") == "system"
        assert page.element("hostname").get_attribute("value") == "mine.example.org"
        page.click("back")
        wait_until(lambda: page.shown("question"), "the page asks once more")
        page.click("question-yes")
        wait_until(lambda: page.shown("domains"), "the list is shown")


def leaves_while_saving(uuid):
    with Page() as page:
        page.go("system", uuid)
        page.type("hostname", "mine.example.org")
        page.type("password", "correct horse")
        page.checked()
        page.click("save")
        page.wait_text("result", "Saving")
        page.click("back")
        time.sleep(0.5)
        tell("left")
        wait_until(lambda: page.shown("domains"), "the list is shown")
        assert not page.shown("question")


def refuses_packages(uuid):
    with Page() as page:
        page.go("system", uuid)
        page.type("packages", 'nginx gi"t')
        page.checked()
        assert "'gi\"t' cannot be the name" in page.save()
        assert page.element("packages").get_attribute("value") == 'nginx gi"t'


def stores_a_password(uuid):
    with Page() as page:
        page.go("system", uuid)
        page.type("password", "correct horse")
        page.checked()
        assert "Saved." in page.save()
        assert page.element("password").get_attribute("value") == ""
        assert "A password is stored" in page.text("password-hint")
        assert "correct horse" not in page.driver.page_source
        tell("stored")
        page.click("forget")
        assert "Saved." in page.save()
        assert "A password is stored" not in page.text("password-hint")


def shows_references(uuid):
    with Page() as page:
        page.go("system", uuid)
        assert "the secret 'web1'" in page.text("user-data")
        assert "the file 'site/base.yaml'" in page.text("vendor-data")
        assert "the secret 'team'" in page.text("key-references")
        assert not page.css("#user-data textarea, #vendor-data textarea")
        page.checked()
        assert "swordfish" not in page.driver.page_source
        page.type("hostname", "www.example.org")
        page.checked()
        assert "Saved." in page.save()


def fits(uuid):
    for width in (1280, 400):
        with Page(width) as page:
            page.go()
            page.assert_fits()
            page.go("system", uuid)
            page.write("user-data", "#cloud-config\n# " + 300 * "x" + "\n")
            page.checked()
            page.assert_fits()
            # What one needs is there, whatever the width.
            for name in ("hostname", "keys", "nic-0-addresses", "save"):
                field = page.element(name)
                box = field.rect
                assert box["x"] >= 0 and box["x"] + box["width"] <= width, (name, box)


def with_the_keyboard(uuid):
    with Page() as page:
        page.go()
        focus = lambda: page.driver.switch_to.active_element

        def tab_to(name, keys=Keys.TAB):
            for _ in range(60):
                page.driver.switch_to.active_element.send_keys(keys)
                if focus().get_attribute("id") == name or focus().get_attribute("data-uuid") == name:
                    style = focus().value_of_css_property("outline-style")
                    assert style != "none", f"'{name}' does not show that it has the focus"
                    return focus()
            raise AssertionError(f"the tabulator does not lead to '{name}'")

        tab_to(uuid).send_keys(Keys.ENTER)
        wait_until(lambda: page.shown("form"), "the form is shown")
        tab_to("hostname").send_keys(Keys.CONTROL, "a")
        focus().send_keys("keyboard.example.org")
        page.checked()
        tab_to("save").send_keys(Keys.ENTER)
        page.wait_text("result", "Saved.")
        # A dialog has the focus, and Escape closes it.
        tab_to("hostname", Keys.SHIFT + Keys.TAB).send_keys("x")
        tab_to("back", Keys.SHIFT + Keys.TAB).send_keys(Keys.ENTER)
        wait_until(lambda: page.shown("question"), "the page asks")
        assert focus().get_attribute("id").startswith("question-")
        focus().send_keys(Keys.ESCAPE)
        wait_until(lambda: not page.shown("question"), "the question is gone")
        assert page.shown("form")


def has_labels(uuid):
    """Each field has a name for those who hear the page, no level of headings is left out, and each style has another
    ground."""
    with Page() as page:
        page.go("system", uuid)
        for field in page.css("input, textarea, select, button"):
            if field.is_displayed():
                assert field.accessible_name, field.get_attribute("outerHTML")
        levels = [int(heading.tag_name[1]) for heading in page.css("h1, h2, h3, h4, h5, h6") if heading.is_displayed()]
        assert all(below - above <= 1 for above, below in zip(levels, levels[1:])), levels
        grounds = set()
        for style in ("dark", "light"):
            page.driver.execute_script("localStorage.setItem('shell:style', arguments[0])", style)
            page.driver.refresh()
            wait_until(lambda: page.shown("form"), "the form is shown")
            grounds.add(page.driver.find_element(By.TAG_NAME, "body").value_of_css_property("background-color"))
        assert len(grounds) == 2


def acts(uuid):
    with Page() as page:
        page.go("system", uuid)
        page.click("start")
        page.wait_text("outcome", "The domain has started.")
        page.wait_text("state", "running")
        page.type("hostname", "www.example.org")
        page.checked()
        assert "new instance" in page.text("pending") or "same instance" in page.text("pending")
        assert "Saved." in page.save()
        page.click("update")
        page.wait_text("log", "has the new seed in its drive")
        tell("updated")
        page.click("apply")
        wait_until(lambda: page.shown("question"), "the page asks")
        assert "reboots" in page.text("question-text") and "meta-data" in page.text("question-text")
        page.click("question-no")
        wait_until(lambda: page.element("apply").is_enabled(), "the buttons come back")


def shows_why_a_start_failed(uuid):
    with Page() as page:
        page.go("system", uuid)
        page.click("start")
        page.wait_text("outcome", "Error: ")
        assert "site/none.yaml" in page.text("outcome") and "Hint: " in page.text("outcome"), page.text("outcome")
        wait_until(lambda: page.element("start").is_enabled(), "the buttons come back")


# --- real guests ------------------------------------------------------------------------------


def sets_up_a_guest(uuid):
    with Page() as page:
        page.go("system", uuid)
        page.type("hostname", "www.example.org")
        page.type("keys", KEY)
        page.scroll_to(page.css("#modes input[value=interfaces]")[0]).click()
        page.type("nic-0-addresses", "10.0.2.99/24")
        page.checked()
        assert "Saved." in page.save()
        page.click("start")
        for stage in ("init-local", "init ", "modules-config", "modules-final"):
            wait_until(lambda: any(item.text.startswith(stage) for item in page.css("#stages li")), f"stage {stage}", BOOT)
        page.wait_text("outcome", "the guest is set up", BOOT)
        page.wait_text("state", "cloud-init: done")
        wait_until(lambda: page.element("apply").is_enabled(), "the buttons come back")


def follows_a_failure(uuid):
    """Another command has started it; the list follows it, and then its own page."""
    with Page() as page:
        page.go()
        wait_until(lambda: "running: " in rows(page)["web2"], "the list shows a stage", BOOT)
        wait_until(lambda: "failed" in rows(page)["web2"], "the list shows that it failed", BOOT)
        page.go("system", uuid)
        page.click("logs")
        page.wait_text("log", "could not resolve the host")


# --- an ordinary user -------------------------------------------------------------------------


def user(home, runtime, number):
    return {"home": home, "runtime": runtime, "id": int(number)}


def limited_access(uuid, *account):
    with Page(user=user(*account)) as page:
        driver = page.driver
        # Cockpit's own pages have errors of their own.
        page.ignored = ["/shell/", "/system/"]
        driver.get(page.shell_url)

        def into_page():
            driver.switch_to.default_content()
            frames = driver.find_elements(By.CSS_SELECTOR, "iframe[name$='/virt-seed']")
            if frames:
                driver.switch_to.frame(frames[0])
                return page.css("#form, #domains")
            return None

        wait_until(into_page, "the page is in Cockpit's shell")
        wait_until(lambda: page.css(f"[data-uuid='{uuid}']"), "the domain is listed")[0].click()
        wait_until(lambda: page.shown("form"), "the form is shown")
        assert "limited access" in page.text("access")
        for name in ("start", "apply", "update", "logs"):
            assert not page.element(name).is_enabled(), name
        page.type("hostname", "ann.example.org")
        page.checked()
        assert not page.element("save").is_enabled()

        driver.switch_to.default_content()
        wait_until(lambda: page.css(".ct-locked, #super-user-indicator button"), "the shell offers access")
        page.css(".ct-locked, #super-user-indicator button")[0].click()
        close = lambda: [button for button in page.css(".pf-c-modal-box button, .pf-v5-c-modal-box button, .pf-v6-c-modal-box button")
                         if button.text == "Close"]
        wait_until(lambda: close() and "You now have administrative access" in page.driver.page_source, "access is given")
        close()[-1].click()
        wait_until(into_page, "the page is there again")
        wait_until(lambda: page.element("save").is_enabled(), "the page has noticed")
        assert page.element("hostname").get_attribute("value") == "ann.example.org"
        assert "Saved." in page.save()


def session(uuid, *account):
    with Page(user=user(*account)) as page:
        page.go()
        page.choose("connection", "session")
        wait_until(lambda: rows(page).get("mine"), "the session's domain is listed")
        page.go("session", uuid)
        assert not page.shown("access")
        page.type("hostname", "mine.example.org")
        page.checked()
        assert "Saved." in page.save()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
