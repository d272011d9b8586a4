# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Requires Python 3.11 or newer, Go, a C compiler, a JDK 17 or newer, Maven, git and make. Everything else is installed automatically into
# the cache and into the standard caches of Go and Maven, never into the checkout. `make clean` removes it, except the caches
# of Go and Maven.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# The environment may name a production cluster or a server, or change the settings of a program (KUBECONFIG, K8S_AUTH_*, ANSIBLE_*,
# HELM_*, DOCKER_*, DRUID_*, PYTEST_*, ...). So nothing of it exists here or in a recipe, except the variables of a login, of compilers
# and of downloads, and those that targets below ask to export. All others are arguments of make: make image DOCKER_HOST=...
INHERITED := PATH HOME USER LOGNAME SHELL TERM NO_COLOR LANG LANGUAGE LC_% TZ TMPDIR XDG_CACHE_HOME XDG_CONFIG_HOME CI \
  MAKEFLAGS MAKELEVEL MAKEOVERRIDES MAKE_TERMOUT MAKE_TERMERR MFLAGS GNUMAKEFLAGS \
  CC CXX CFLAGS CPPFLAGS LDFLAGS CGO_% PKG_CONFIG_% LD_LIBRARY_PATH JAVA_HOME PYENV_% ASDF_% MISE_% \
  GOPATH GOROOT GOCACHE GOMODCACHE GOTMPDIR GOENV GOFLAGS GOTOOLCHAIN GOPROXY GONOPROXY GOPRIVATE GOINSECURE GOSUMDB GONOSUMDB GOAUTH GOVCS \
  MAVEN_% PIP_% GIT_SSL_% GIT_CONFIG_% NETRC SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE \
  HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy \
  DRUIDOPS_CACHE DRUIDOPS_TESTBED DRUIDOPS_NODE DRUIDOPS_DRUID DRUIDOPS_SEED
# For the demo on a cluster that CONTEXT names.
EXPORTED_KUBECONFIG := $(KUBECONFIG)
of_environment = $(foreach name,$(.VARIABLES),$(if $(findstring environment,$(origin $(name))),$(name)))
$(foreach name,$(filter-out $(INHERITED),$(of_environment)),$(eval override undefine $(name)))

# A proxy is for downloads, never for what runs on this machine: loopback, the node with its pods and Services, and names that do not exist.
export NO_PROXY := localhost,127.0.0.1,127.0.0.0/8,::1,10.200.0.0/14,.invalid,$(or $(no_proxy),$(NO_PROXY))
export no_proxy := $(NO_PROXY)

PYTHON ?= python3
CACHE := $(or $(DRUIDOPS_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/druidops)
# The files of this checkout only; all other files are used by several checkouts.
WORK := $(CACHE)/checkout-$(shell printf %s '$(CURDIR)' | cksum | cut -d' ' -f1)

# 1.30, 1.34, 1.36, oldest or newest
KUBERNETES ?= 1.34
# The Druid release for tests that do not need a specific one: any release whose artifacts Maven finds.
DRUID ?= 33.0.0
# Parallel test processes (more than two cores need, because tests often wait), and additional arguments of pytest:
# make unit TESTS=tests/unit/plugins ARGUMENTS='-k names'
WORKERS ?= 3
TESTS ?=
NODES ?=
ARGUMENTS ?=

virtualenv = $(shell $(PYTHON) tools/ci/virtualenv.py --path-only '$(CACHE)' tests/requirements/$(1).txt)
CORE_2_18 := $(call virtualenv,core-2.18)
CORE_2_19 := $(call virtualenv,core-2.19)
TOOLS := $(call virtualenv,tools)
# The packages of the operator's runs: those of the image of operator-sdk's Ansible operator.
OPERATOR := $(call virtualenv,operator)
KUBERNETES_CORE_OLDEST := $(CACHE)/collections/kubernetes.core-5.0.0
KUBERNETES_CORE_NEWEST := $(CACHE)/collections/kubernetes.core-6.6.0

VERSION := $(shell sed -n 's/^version: //p' galaxy.yml)
LINK := $(WORK)/link
TREE := $(WORK)/tree
COLLECTION := ansible_collections/druidops/druid
DIST := $(WORK)/dist
TARBALL := $(DIST)/druidops-druid-$(VERSION).tar.gz
INSTALLED := $(WORK)/installed
CONTROL_PLANE := $(WORK)/control-plane
NODE := $(WORK)/node
DRUID_DIRECTORY := $(WORK)/druid
DEMO := $(WORK)/demo

GATE := $(CURDIR)/tools/ci/gate

PYTHON_VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
ansible_test = env HOME=$(CACHE)/ansible-test-$(1) $(CORE_$(subst .,_,$(1)))/bin/ansible-test

# Variables for the tests.
export DRUIDOPS_CACHE := $(CACHE)
export DRUIDOPS_CORE_2_18 := $(CORE_2_18)
export DRUIDOPS_CORE_2_19 := $(CORE_2_19)
export DRUIDOPS_OPERATOR := $(OPERATOR)
export DRUIDOPS_KUBERNETES_CORE_OLDEST := $(KUBERNETES_CORE_OLDEST)
export DRUIDOPS_KUBERNETES_CORE_NEWEST := $(KUBERNETES_CORE_NEWEST)
export DRUIDOPS_TARBALL := $(TARBALL)
export DRUIDOPS_INSTALLED := $(INSTALLED)
export KUBERNETES
export DRUID
# Do not use the user's ~/.ansible and ~/.ansible.cfg.
export ANSIBLE_HOME := $(WORK)/ansible
export ANSIBLE_CONFIG := $(CURDIR)/tools/ci/ansible.cfg
export ANSIBLE_NOCOWS := 1
# No bytecode and no caches in the checkout.
export PYTHONDONTWRITEBYTECODE := 1
export RUFF_CACHE_DIR := $(WORK)/ruff
export MYPY_CACHE_DIR := $(WORK)/mypy
export HYPOTHESIS_STORAGE_DIRECTORY := $(WORK)/hypothesis

TESTBED := PYTHONPATH=tests $(CORE_2_19)/bin/python -m testbed
# Without the virtual environment, because it may not exist yet when processes of an earlier one have to be stopped.
STOP := PYTHONPATH=tests $(PYTHON) -m testbed.stop
# With the bytecode of earlier runs: without it, each process of the tests compiles 150,000 lines.
PYTEST := PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$(WORK)/pycache PYTHONPATH=$(LINK):tests ANSIBLE_COLLECTIONS_PATH=$(LINK):$(KUBERNETES_CORE_NEWEST) \
	$(CORE_2_19)/bin/python -m pytest -o cache_dir=$(WORK)/pytest
MYPY := env MYPYPATH=$(LINK):$(CURDIR)/tests $(TOOLS)/bin/mypy --no-error-summary --python-executable $(CORE_2_19)/bin/python
PYTEST_PARALLEL := --numprocesses $(WORKERS) --dist loadgroup --no-loadscope-reorder

RESET_MOLECULE = $(STOP) $(ANSIBLE_HOME)/tmp/molecule.*/control-plane && rm -rf $(ANSIBLE_HOME)/tmp/molecule.*
MOLECULE := env NO_COLOR=1 PATH=$(TOOLS)/bin:$$PATH ANSIBLE_COLLECTIONS_PATH=$(INSTALLED):$(KUBERNETES_CORE_NEWEST) molecule

##@ Development

.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## "; print "Usage: make TARGET [VARIABLE=VALUE ...]" } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '\nVariables, as arguments of make (of exported ones, only DRUIDOPS_CACHE has an effect)\n'
	@printf '  %-20s %s\n' \
	  'KUBECONFIG, CONTEXT' 'the cluster of the demo (CONTEXT alone: in the kubeconfig of kubectl); default: a new one' \
	  'DRUID' 'Druid version of the tests ($(DRUID))' \
	  'KUBERNETES' 'Kubernetes version of the tests: 1.30, 1.34, 1.36, oldest or newest ($(KUBERNETES))' \
	  'NODES' 'simulated: pods of the demo are no containers, as if the machine cannot run any' \
	  'PYTHON' 'the Python that creates the virtual environments ($(PYTHON))' \
	  'TESTS, ARGUMENTS' 'the tests that pytest runs, and additional options of pytest' \
	  'WORKERS' 'parallel test processes ($(WORKERS))' \
  'RELEASE, IMAGE, KEY' 'of make dist: a directory, the image with its tag, a private key that signs the checksums' \
	  'DRUIDOPS_CACHE' 'the directory of all installed files ($(CACHE))'

# Without $(MAKE) in the recipe, which make --dry-run would run.
.PHONY: demo
demo: ## Create a sample cluster from one resource (on your own Kubernetes: KUBECONFIG, CONTEXT)
	@PYTHONPATH=tests DEMO_NODES='$(NODES)' DEMO_KUBECONFIG='$(or $(KUBECONFIG),$(and $(CONTEXT),$(EXPORTED_KUBECONFIG)))' DEMO_CONTEXT='$(CONTEXT)' \
	  $(PYTHON) -m tools.demo $(DEMO) $(TREE)/$(COLLECTION) make demo-ansible

# Run by the demo while other things are built.
.PHONY: demo-ansible
demo-ansible: $(CORE_2_19)/.complete $(KUBERNETES_CORE_NEWEST) tree

.PHONY: test
test: setup ## Run all checks and then all tests, as CI does
	@tools/ci/test

.PHONY: lint
lint: lint-python lint-ansible lint-docs lint-other lint-words ## Run all linters

.PHONY: unit
unit: $(CORE_2_19)/.complete link ## Run the unit tests
	@$(PYTEST) $(PYTEST_PARALLEL) $(or $(TESTS),tests/unit) $(ARGUMENTS)

.PHONY: integration
integration: $(CORE_2_19)/.complete $(CORE_2_18)/.complete $(OPERATOR)/.complete collections link install ## Run the tests that need a control plane or a Druid
	@$(PYTEST) $(PYTEST_PARALLEL) $(or $(TESTS),tests/system) $(ARGUMENTS)

.PHONY: node-tests
node-tests: node-programs ## Run the tests of a Druid in real pods, which need Linux, root, and programs that they name
	@$(MAKE) integration TESTS='$(or $(TESTS),tests/system/node)'

.PHONY: all-tests
all-tests: $(CORE_2_19)/.complete $(CORE_2_18)/.complete $(OPERATOR)/.complete collections link install
	@$(PYTEST) $(PYTEST_PARALLEL) tests/unit tests/system $(ARGUMENTS)

.PHONY: test-operator
test-operator: $(CORE_2_19)/.complete $(CORE_2_18)/.complete $(OPERATOR)/.complete collections link install ## Run the operator's tests with the ansible-operator on PATH
	@command -v ansible-operator >/dev/null || { echo 'ansible-operator is not on PATH' >&2; exit 1; }
	@$(PYTEST) $(or $(TESTS),tests/system/operator tests/system/ingestion/test_ingestion_programs.py) $(ARGUMENTS)

.PHONY: test-go-operator
test-go-operator: $(CORE_2_19)/.complete $(OPERATOR)/.complete collections link install ## Run the tests with the Go operator on PATH (its program is called manager)
	@command -v manager >/dev/null || { echo 'manager, the program of the Go operator, is not on PATH' >&2; exit 1; }
	@$(PYTEST) $(or $(TESTS),tests/system/go_operator/check_*.py) $(ARGUMENTS)

.PHONY: campaign
campaign: setup install link ## Run the exhaustive tests, and write the results to docs/testing.md: PART=tests, properties, ...
	@$(CORE_2_19)/bin/python -m tools.campaign $(if $(PART),--part $(PART))

.PHONY: testbed
testbed: $(CORE_2_19)/.complete link ## Start a control plane for the tests, until `make stop`
	@$(TESTBED) up --dir $(CONTROL_PLANE) --kubernetes $(KUBERNETES) --crd config/crd/*s.yaml
	@printf '\nFor the tests: export DRUIDOPS_TESTBED=%s\n' '$(CONTROL_PLANE)'

.PHONY: node
node: node-programs $(CORE_2_19)/.complete link ## Start a control plane with a real node, whose pods are containers, until `make stop`
	@$(TESTBED) up --dir $(NODE) --node --crd config/crd/*s.yaml
	@printf '\nFor the tests: export DRUIDOPS_NODE=%s\n' '$(NODE)'

.PHONY: node-programs
node-programs:
	@PYTHONPATH=tests $(PYTHON) -m testbed.node.requirements

.PHONY: druid
druid: $(CORE_2_19)/.complete ## Start a Druid and a Kafka for the tests, until `make stop`
	@$(TESTBED) druid up --dir $(DRUID_DIRECTORY) --version $(DRUID)
	@printf '\nFor the tests: export DRUIDOPS_DRUID=%s\n' '$(DRUID_DIRECTORY)'

.PHONY: stop
stop: molecule-reset ## Stop all running processes, keep all installed files
	@$(STOP) '$(CONTROL_PLANE)' '$(NODE)' '$(DEMO)/control-plane' '$(DRUID_DIRECTORY)'

.PHONY: clean
clean: stop ## Stop all running processes and remove all files of these targets, except the caches of Go and Maven and files that other checkouts use
	@PYTHONPATH=tests tools/ci/clean '$(CACHE)' '$(WORK)' $(PYTHON) -m testbed.stop

##@ Individual checks

.PHONY: gates
gates: checks sanity-2.19 ## Run the checks of `make test`; use --jobs 2 to run them in parallel

.PHONY: checks
checks: lint import-check install-check

.PHONY: lint-python
lint-python: $(TOOLS)/.complete $(CORE_2_19)/.complete link
	@$(GATE) 'ruff check' $(TOOLS)/bin/ruff check --quiet
	@$(GATE) 'ruff format' $(TOOLS)/bin/ruff format --quiet --check --diff
	@$(GATE) 'mypy: plugins, test bed' $(MYPY) --package $(subst /,.,$(COLLECTION)).plugins --package testbed --package simulator
	@$(GATE) 'mypy: tools, image' $(MYPY) $$(git ls-files --cached --others --exclude-standard 'tools/*.py' 'build/*.py')

.PHONY: lint-ansible
lint-ansible: $(TOOLS)/.complete tree
	@cd $(TREE)/$(COLLECTION) && $(GATE) 'ansible-lint' env PATH=$(TOOLS)/bin:$$PATH NO_COLOR=1 ANSIBLE_COLLECTIONS_PATH=$(TREE) \
	  ansible-lint --offline --profile production --strict -q

.PHONY: lint-docs
lint-docs: $(TOOLS)/.complete $(CORE_2_19)/.complete tree
	@cd $(TREE)/$(COLLECTION) && $(GATE) 'antsibull-docs' env HOME=$(WORK) PATH=$(TOOLS)/bin:$$PATH ANSIBLE_COLLECTIONS_PATH=$(TREE) \
	  antsibull-docs lint-collection-docs --plugin-docs --validate-collection-refs self --check-extra-docs-refs .
	@$(GATE) 'antsibull-changelog' env HOME=$(WORK) $(TOOLS)/bin/antsibull-changelog lint
	@$(GATE) 'generated parts of documents' $(CORE_2_19)/bin/python -m tools.docs.generate --check

.PHONY: lint-other
lint-other: $(TOOLS)/.complete
	@$(GATE) 'yamllint' $(TOOLS)/bin/yamllint --strict $$(git ls-files --cached --others --exclude-standard '*.yml' '*.yaml')
	@$(GATE) 'licences (reuse)' $(TOOLS)/bin/reuse lint --lines
	@$(GATE) 'shellcheck' $(TOOLS)/bin/shellcheck .ci/run tools/ci/clean tools/ci/gate tools/ci/go_format tools/ci/install_check tools/ci/test tests/testbed/node/images/*.sh
	@$(GATE) 'gofmt' tools/ci/go_format tests/testbed

# What people read. Of the tests, only names, docstrings and comments, because their strings are data.
WORDS := $(shell git ls-files --cached --others --exclude-standard 'plugins/*.py' 'roles/*' 'playbooks/*' 'docs/*.md' README.md CONTRIBUTING.md CHANGELOG.md RELEASING.md \
  'changelogs/fragments/*' 'config/*' 'tools/*.py' 'build/*' Makefile 'tests/*.py' 'tests/*.java' 'tests/*.md' 'molecule/*' 'charts/*' 'meta/*' \
  .ci/run 'tools/ci/*' 'tools/crd/fields/*' 'tools/demo/*' '.github/*' watches.yaml galaxy.yml bindep.txt)

.PHONY: lint-words
lint-words: $(CORE_2_19)/.complete
	@$(GATE) 'words' env PYTHONPATH=tests $(CORE_2_19)/bin/python -m tools.words $(WORDS)

.PHONY: sanity
sanity: sanity-2.19 sanity-2.18 ## Run ansible-test sanity with the newest and the oldest ansible-core

.PHONY: sanity-2.19 sanity-2.18
sanity-2.19 sanity-2.18: sanity-%: tree-% $(CACHE)/ansible-test-%/.complete
	@cd $(WORK)/ansible-test-tree-$*/$(COLLECTION) && $(GATE) 'ansible-test sanity, ansible-core $*' \
	  $(call ansible_test,$*) sanity --color no --venv --python $(PYTHON_VERSION)

.PHONY: ansible-units
ansible-units: ansible-units-2.18 ## Run the unit tests with ansible-test units and the oldest ansible-core

.PHONY: ansible-units-2.19 ansible-units-2.18
ansible-units-2.19 ansible-units-2.18: ansible-units-%: units-tree-% $(CACHE)/ansible-test-%/.complete
	@cd $(WORK)/ansible-units-tree-$*/$(COLLECTION) && $(GATE) 'ansible-test units, ansible-core $*' \
	  $(call ansible_test,$*) units --color no --venv --python $(PYTHON_VERSION)

.PHONY: ansible-oldest
ansible-oldest: sanity-2.18 ansible-units-2.18

# The directory of the files, and a private key (PEM).
RELEASE ?= $(WORK)/release
KEY ?=

.PHONY: dist
dist: build $(CORE_2_19)/.complete ## Make the files of a release: RELEASE (a directory), IMAGE, KEY (signs the checksums)
	@PYTHONPATH=tests $(CORE_2_19)/bin/python -m tools.release $(RELEASE) $(TARBALL) \
	  $(if $(findstring command,$(origin IMAGE)),--image $(IMAGE)) $(if $(KEY),--key $(KEY))

.PHONY: build
build: $(TARBALL) ## Build the collection's tarball
	@printf '%s\n' $(TARBALL)

$(TARBALL): $(TREE)/changed | $(TOOLS)/.complete
	@cd $(TREE)/$(COLLECTION) && $(TOOLS)/bin/ansible-galaxy collection build --force --output-path $(DIST) >/dev/null

# created by the previous target; newer only if a file of the release has changed
$(TREE)/changed: tree
	@:

.PHONY: import-check
import-check: build ## Import the tarball as Galaxy does
	@$(GATE) 'galaxy-importer' env PATH=$(TOOLS)/bin:$$PATH PYTHONPATH=$(KUBERNETES_CORE_NEWEST) $(TOOLS)/bin/python tools/ci/import_check.py $(TARBALL)

.PHONY: install
install: $(INSTALLED)/.complete collections ## Install the tarball into an empty path

$(INSTALLED)/.complete: $(TARBALL)
	@rm -rf $(INSTALLED)
	@ANSIBLE_COLLECTIONS_PATH=$(INSTALLED) $(TOOLS)/bin/ansible-galaxy collection install --no-deps --offline --collections-path $(INSTALLED) $(TARBALL) >/dev/null
	@touch $@

.PHONY: install-check
install-check: install $(CORE_2_18)/.complete $(CORE_2_19)/.complete ## Verify that all plugins, roles and playbooks of the installed tarball are found, with both versions of ansible-core
	@$(GATE) 'installed, ansible-core 2.19' tools/ci/install_check $(CORE_2_19) $(INSTALLED) $(KUBERNETES_CORE_NEWEST)
	@$(GATE) 'installed, ansible-core 2.18' tools/ci/install_check $(CORE_2_18) $(INSTALLED) $(KUBERNETES_CORE_OLDEST)

.PHONY: molecule
molecule: $(TOOLS)/.complete $(CORE_2_19)/.complete install tree molecule-reset ## Run the molecule scenario of the role druid_cluster
	@trap 'cd $(CURDIR); $(RESET_MOLECULE)' EXIT; cd $(TREE)/$(COLLECTION); $(GATE) molecule $(MOLECULE) test

# Removes the files of a run that failed or was interrupted.
.PHONY: molecule-reset
molecule-reset:
	@$(RESET_MOLECULE)

##@ The operator's image

# docker, or podman
CONTAINER_ENGINE ?= docker
IMAGE ?= quay.io/druidops/druid-operator:$(VERSION)

.PHONY: image
image: ## Build the operator's image: IMAGE, CONTAINER_ENGINE
	@$(CONTAINER_ENGINE) build --file build/Dockerfile --build-arg VERSION=$(VERSION) --tag $(IMAGE) .

.PHONY: image-layout
image-layout: $(OPERATOR)/.complete $(KUBERNETES_CORE_NEWEST) ## Create the files of the image's /opt/ansible without a container
	@$(PYTHON) -m tools.ci.image_layout $(WORK)/image $(OPERATOR) $(KUBERNETES_CORE_NEWEST) --at $(WORK)/image
	@printf '%s\n' $(WORK)/image

##@ Benchmarks

.PHONY: bench
bench: setup install link ## Compare the performance with other solutions: ROUNDS=5 CLUSTERS=100 PART=clusters, scale, supervisors, ingestions, operator (BASE=commit) or rollout
	@PYTHONPATH=$(LINK):tests $(CORE_2_19)/bin/python -m tools.bench --rounds $(or $(ROUNDS),5) $(if $(CLUSTERS),--clusters $(CLUSTERS)) \
	  $(if $(BASE),--base $(BASE)) --part $(or $(PART),all)

##@ Generated files

.PHONY: crds
crds: $(CORE_2_19)/.complete ## Generate the CRDs, the schema in plugins/ and docs/reference from tools/crd/fields
	@$(CORE_2_19)/bin/python -m tools.crd.generate

.PHONY: openapi
openapi: $(CORE_2_19)/.complete ## The same, after reading Kubernetes' own types again from an API server that it starts
	@directory=$$(mktemp -d); trap '$(TESTBED) down --dir "$$directory"' EXIT; \
	$(TESTBED) up --dir "$$directory"; \
	$(CORE_2_19)/bin/python -m tools.crd.generate --openapi "$$directory/admin.kubeconfig"

.PHONY: docs
docs: crds ## Generate the reference in docs/ and the variables in the roles' READMEs
	@$(CORE_2_19)/bin/python -m tools.docs.generate

.PHONY: picture
picture: ## Draw docs/rollout.svg again, from a rollout in the running `make demo`, as root on Linux
	@$(PYTHON) -m tools.docs.rollout $(DEMO)

.PHONY: changelog
changelog: $(TOOLS)/.complete collections ## For a release: generate CHANGELOG.md from the fragments
	@PATH=$(TOOLS)/bin:$$PATH ANSIBLE_COLLECTIONS_PATH=$(KUBERNETES_CORE_NEWEST) antsibull-changelog release

##@ Preparation

.PHONY: setup
setup: $(CORE_2_18)/.complete $(CORE_2_19)/.complete $(OPERATOR)/.complete $(TOOLS)/.complete collections ## Install the dependencies of the other targets, without running them

$(CACHE)/venv/%/.complete:
	@$(PYTHON) tools/ci/virtualenv.py '$(CACHE)' tests/requirements/$(shell sed 's/-[0-9a-f]*$$//' <<<'$*').txt >/dev/null

.PHONY: collections
collections: $(KUBERNETES_CORE_OLDEST) $(KUBERNETES_CORE_NEWEST)

$(KUBERNETES_CORE_OLDEST):
	@$(PYTHON) tools/ci/kubernetes_core.py '$(CACHE)' oldest >/dev/null

$(KUBERNETES_CORE_NEWEST):
	@$(PYTHON) tools/ci/kubernetes_core.py '$(CACHE)' newest >/dev/null

# For imports: the checkout under its package name for Python and Ansible.
.PHONY: link
link:
	@mkdir -p $(dir $(LINK)/$(COLLECTION))
	@ln -sfn $(CURDIR) $(LINK)/$(COLLECTION)
	@rm -rf $(WORK)/pycache$(or $(TMPDIR),/tmp)

# For Ansible's own tools: a copy, because they reject a symbolic link.
.PHONY: tree tree-2.18 tree-2.19
tree: $(KUBERNETES_CORE_NEWEST) link
	@$(PYTHON) tools/ci/collection_tree.py $(TREE) $(KUBERNETES_CORE_NEWEST)
tree-2.18: $(KUBERNETES_CORE_OLDEST)
	@$(PYTHON) tools/ci/collection_tree.py $(WORK)/ansible-test-tree-2.18 $(KUBERNETES_CORE_OLDEST) --for-sanity
tree-2.19: $(KUBERNETES_CORE_NEWEST)
	@$(PYTHON) tools/ci/collection_tree.py $(WORK)/ansible-test-tree-2.19 $(KUBERNETES_CORE_NEWEST) --for-sanity

# For the unit tests, which also read the files that sanity rejects.
.PHONY: units-tree-2.18 units-tree-2.19
units-tree-2.18: $(KUBERNETES_CORE_OLDEST)
	@$(PYTHON) tools/ci/collection_tree.py $(WORK)/ansible-units-tree-2.18 $(KUBERNETES_CORE_OLDEST)
units-tree-2.19: $(KUBERNETES_CORE_NEWEST)
	@$(PYTHON) tools/ci/collection_tree.py $(WORK)/ansible-units-tree-2.19 $(KUBERNETES_CORE_NEWEST)

# A home directory for ansible-test, which stores its virtual environments there; all checkouts share it.
$(CACHE)/ansible-test-2.18/.complete: $(CORE_2_18)/.complete tools/ci/ansible_test_home.py tools/ci/get_pip.py
	@$(CORE_2_18)/bin/python tools/ci/ansible_test_home.py $(@D) && touch $@
$(CACHE)/ansible-test-2.19/.complete: $(CORE_2_19)/.complete tools/ci/ansible_test_home.py tools/ci/get_pip.py
	@$(CORE_2_19)/bin/python tools/ci/ansible_test_home.py $(@D) && touch $@
