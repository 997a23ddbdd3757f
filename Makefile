# Everything here works on a machine without ROS: the Jazzy client library comes as wheels from PyPI, into .venv.
# With a ROS 2 distribution: colcon build --base-paths . interfaces
#
#   make sim     search the sample scenes; bags, reports and results are left in runs/sim. More arguments: ARGS="..."
#   make twin    the same search with a robot's neck in a physics simulation: ROBOT=icub, stretch, vega. Needs no robot
#   make test    style, types and every test, two files at a time. Some tests only: ARGS="test/search -k yaw"; one by
#                one, e.g. to debug: JOBS=0
#   make venv    only prepare .venv      make lint   only style and types
#   make clean   remove what make made, but not what lies in runs

PYTHON ?= python3
ARGS ?=
# The torch that the models' tests run with.
TORCH ?= torch==2.13.0
JOBS ?= 2
BIN := .venv/bin
RECORD ?= runs/sim
ROBOT ?= icub

# A sourced ROS distribution, or an environment of the same wheels that make was started from, would mix with .venv.
ifneq ($(AMENT_PREFIX_PATH)$(_ROS_WHEELS_BOOTSTRAP_COMPLETE),)
unexport LD_LIBRARY_PATH
endif
unexport AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH PYTHONPATH PYTHONHOME RMW_IMPLEMENTATION
unexport ROS_DISTRO _ROS_WHEELS_BOOTSTRAP_COMPLETE

.PHONY: help sim twin test lint venv clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^#   /  /p' Makefile

sim: venv
	$(BIN)/hvs sim --scenes scenes --policy signs --record $(RECORD) $(ARGS)

twin: .venv/.twin
	$(BIN)/hvs real --robot $(ROBOT) --twin $(ARGS)

test: lint
# By file, as tests of a file share nodes; in the order of the folders, whose slow ones come before fast ones. Nodes have
# deadlines, which a busy machine may miss: a test that fails is tried twice more, and counted in the last line.
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder --reruns 2 $(ARGS)

lint: .venv/.tests venv
	$(BIN)/ruff check .
	$(BIN)/mypy

# The messages are compiled while the other packages are downloaded.
venv: .venv/.python
	@$(MAKE) -s --no-print-directory -j2 .venv/.packages .venv/.interfaces

.venv/.python:
	@command -v $(PYTHON) >/dev/null || { echo \
	  "hvs_ros: there is no $(PYTHON): name a Python 3.10 to 3.13, e.g. make PYTHON=python3.12"; exit 1; }
	@test "$$(uname -sm)" = "Linux x86_64" || { echo \
	  "hvs_ros: this is $$(uname -sm); the ROS 2 wheels are for Linux x86_64. Use a ROS 2 distribution, or no ROS:" \
	  "pip install -e '.[signs]' and hvs sim --in-process"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' || { echo \
	  "hvs_ros: $(PYTHON) is $$($(PYTHON) --version 2>&1); the ROS 2 wheels are for Python 3.10 to 3.13." \
	  "Name one of these: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo \
	  "hvs_ros: $(PYTHON) has no venv module: apt install python3-venv"; exit 1; }
	@$(PYTHON) -c 'import os, sys, sysconfig; \
	  sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' || { echo \
	  "hvs_ros: $(PYTHON) has no header files, which the messages are compiled with: apt install python3-dev"; exit 1; }
	@{ command -v "$${CC:-cc}" && command -v "$${CXX:-c++}"; } >/dev/null || { echo \
	  "hvs_ros: there is no C and C++ compiler, which the messages are compiled with: apt install g++"; exit 1; }
	@echo "hvs_ros: preparing .venv, once: one to two minutes"
	@$(PYTHON) -m venv --clear .venv
	@touch $@

.venv/.packages: .venv/.python setup.py setup.cfg
	@echo "hvs_ros: installing packages"
	@$(BIN)/pip install -q --disable-pip-version-check -e '.[signs,record,ros]'
	@touch $@

.venv/.interfaces: .venv/.python $(shell find interfaces -type f)
	@echo "hvs_ros: compiling the messages"
	@rm -rf .venv/wheels
	@$(BIN)/pip wheel -q --disable-pip-version-check --no-deps -w .venv/wheels ./interfaces
	@$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-index --force-reinstall .venv/wheels/*.whl
	@touch $@

.venv/.twin: venv
	@test $@ -nt .venv/.packages || { echo "hvs_ros: installing the physics simulation and its robots"; \
	  $(BIN)/pip install -q --disable-pip-version-check -e '.[twin]' && touch $@; }

.venv/.tests: venv
	@test $@ -nt .venv/.packages || { echo "hvs_ros: installing the tests' packages"; \
	  $(BIN)/pip install -q --disable-pip-version-check \
	  -e '.[test,lint,twin,dynamixel,server,torch,onnx,export,ray,gym]' $(TORCH) && touch $@; }

clean:
	rm -rf .venv build install log *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
