import type { NewFile } from '../write-new-files.ts'

/** The files that every project has: the shortcut and the configuration. */
export function projectFiles(): readonly NewFile[] {
  return [
    { path: 'tool', text: SHORTCUT, program: true },
    { path: 'toolable.yaml', text: CONFIGURATION },
  ]
}

const CONFIGURATION = `# Where the tools of this project come from; see the page "registry" of the documentation of toolable.
folders: [tools]
`

/** `exec`, so that a signal reaches the runner and not a shell in front of it. */
export const SHORTCUT = `#!/bin/sh
# Runs the tools of this project, supervised and on record.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit 1

start() {
  if [ -x "$here/node_modules/.bin/toolable" ]; then exec "$here/node_modules/.bin/toolable" "$@"; fi
  if command -v toolable > /dev/null; then exec toolable "$@"; fi
  exec npx --yes toolable "$@"
}

case "\${1-}" in
  --list | --describe) start --config "$here/toolable.yaml" "$@" ;;
  '' | -h | --help)
    echo 'Usage: ./tool <tool> [arguments] | ./tool --list | ./tool --describe <tool>'
    [ -n "\${1-}" ] || exit 2 ;;
  *) start run --config "$here/toolable.yaml" "$@" ;;
esac
`
