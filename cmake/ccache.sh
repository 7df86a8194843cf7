#!/bin/sh
# Compiles by way of ccache, except a precompiled header: GCC compares the modification times of the headers inside one,
# and ccache gives back a file whose times are past, which ends in "redefinition of ...".
case " $* " in
*" c++-header "*) exec "$@" ;;
esac
# Without this ccache stores nothing that was compiled with a precompiled header.
CCACHE_SLOPPINESS=pch_defines,time_macros exec ccache "$@"
