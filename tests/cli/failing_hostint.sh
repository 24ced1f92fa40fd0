#!/bin/bash
# Stands in for hostint in a demo: each daemon says that it is ready, but for the one whose arguments begin as $FAILS says. That
# one does not start or, with $LATER, ends when the demo attaches a source.
case $* in
*detach*) exit ;;
*attach* | *add-dest*)
	: >/run/later
	exit
	;;
collect*) ready="collecting on 10.0.0.1" ;;
sink*) ready="sink attached" ;;
transit*) ready="waits in queues are reported" ;;
tcp*) ready="connections are watched" ;;
postcards*) ready="drops are reported" ;;
*) exit 1 ;;
esac
if [[ $* != "$FAILS"* ]]; then
	echo "$ready" >&2
	exec sleep 1000
fi
if [ -n "$LATER" ]; then
	echo "$ready" >&2
	until [ -e /run/later ]; do sleep 0.05; done
fi
echo "hostint: cannot run the $1: the kernel refuses it" >&2
exit 3
