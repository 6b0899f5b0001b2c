// Console blocks of the documentation are really run: in a fresh sample folder, one shell for each
// block.
import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeSampleFolder } from '../sample-folder.mjs'

const MARK = '--- end of a command ---'
const programs = {
  'file-tools': 'examples/file-tools/file-tools.mjs',
  greet: 'examples/hello/hello.mjs',
  toolable: 'dist/bin.js',
}

/**
 * A console block with what its commands really print. `terminal` shows what a person sees;
 * otherwise it is what a pipe gets on stdout.
 */
export function runConsole(body, { terminal }) {
  const commands = body.split('\n').reduce(takeCommand, [])
  const outputs = runAll(
    commands.map(({ text }) => text),
    terminal,
  )
  return commands
    .map(({ text, output }, index) => `$ ${text}\n${keepIfTrue(output, outputs[index] ?? '')}`)
    .join('')
}

function takeCommand(commands, line) {
  const last = commands.at(-1)
  if (last?.text.endsWith('\\') && last.output === '') last.text += `\n${line}`
  else if (line.startsWith('$ ')) commands.push({ text: line.slice(2), output: '' })
  else if (last && line !== '') last.output += `${line}\n`
  else if (last && last.output !== '') last.output += '\n'
  return commands
}

function runAll(commands, terminal) {
  const { folder, remove } = makeSampleFolder()
  try {
    // The functions that docs/functions.md speaks of.
    if (commands.some((command) => command.includes('./tools.ts')))
      copyFileSync(
        fileURLToPath(new URL('../../examples/functions/tools.ts', import.meta.url)),
        join(folder, 'tools.ts'),
      )
    const functions = Object.entries(programs).map(
      ([name, file]) =>
        `${name}() { "$NODE" '${fileURLToPath(new URL(`../../${file}`, import.meta.url))}' "$@"; }`,
    )
    const script = [
      ...functions,
      ...commands.map(
        (command) => `${command}\nstatus=$?; printf '%s\\n' '${MARK}'; (exit $status)`,
      ),
    ].join('\n')
    const { stdout, error } = spawnSync(
      'bash',
      ['-c', terminal ? `exec 2>&1\n${script}` : script],
      {
        cwd: folder,
        encoding: 'utf8',
        timeout: 60_000,
        env: {
          PATH: process.env.PATH,
          NODE: process.execPath,
          HOME: folder,
          NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE ?? '',
          ...(terminal && { TOOLABLE_OUTPUT: 'text' }),
        },
      },
    )
    if (error) throw error
    return stdout.split(`${MARK}\n`).map((output) => settle(output, folder))
  } finally {
    remove()
  }
}

// What differs from run to run is written the same way each time.
function settle(output, folder) {
  return output
    .replaceAll(folder, '/home/ada/weather')
    .replace(/(?<name>"?duration_ms"?: ?)\d+/g, '$<name>3')
    .replace(/"id":"[0-9a-f]{8}"/g, '"id":"4f1c2a90"')
    .replace(/[ \t]+$/gm, '')
}

// `…` at the end of a line stands for the rest of it, and alone for any number of lines.
function keepIfTrue(written, real) {
  const pattern = written
    .split('\n')
    .map((line) =>
      line === '…'
        ? '(?:.*\\n)*?.*'
        : line.endsWith('…')
          ? `${escape(line.slice(0, -1))}.*`
          : escape(line),
    )
    .join('\n')
  return written !== '' && new RegExp(`^${pattern}$`).test(real) ? written : real
}

function escape(text) {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
