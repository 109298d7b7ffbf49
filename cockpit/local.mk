# SPDX-License-Identifier: GPL-2.0-or-later
# The page in Cockpit, which the browser runs as it is: nothing is built but the path of the command.

cockpitdir = $(datadir)/cockpit/virt-seed
dist_cockpit_DATA = \
	%D%/command.js \
	%D%/dom.js \
	%D%/editor.js \
	%D%/form.js \
	%D%/index.html \
	%D%/main.js \
	%D%/preview.js \
	%D%/progress.js \
	%D%/request.js \
	%D%/status.js \
	%D%/virt-seed.css \
	$(NULL)
nodist_cockpit_DATA = %D%/manifest.json
EXTRA_DIST += %D%/manifest.json.in
CLEANFILES += $(nodist_cockpit_DATA)

%D%/manifest.json: $(srcdir)/%D%/manifest.json.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D% && sed -e 's|@bindir[@]|$(bindir)|g' '$(srcdir)/%D%/manifest.json.in' >$@
