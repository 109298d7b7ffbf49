#!/bin/sh
echo a
