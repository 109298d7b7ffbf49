#!/bin/sh
echo a
