import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { cleanEnvironment, makeFolder } from '../../support/run-program.ts'
import { TOOLABLE_PATH } from '../../support/toolable-program.ts'

const run = promisify(execFile)
const PICTURES = fileURLToPath(new URL('../../../coverage/terminal/', import.meta.url))
const sockets = new Set<string>()
afterAll(() => {
  for (const socket of sockets) end(socket)
})

/** A program in a real terminal window, which a test looks at and types into. */
export type Window = {
  /** What is seen now, row by row; with `all` also what has scrolled away. */
  look(all?: boolean): Promise<string>
  /** The same with its colours. */
  lookInColor(): Promise<string>
  /** Resolves with the screen as soon as it is like that, at most once. */
  until(wanted: RegExp | string, all?: boolean): Promise<string>
  /** Keys by the names that tmux has for them; text as it is. */
  press(...keys: readonly string[]): Promise<void>
  type(text: string): Promise<void>
  /** Resolves when programs in the window can know of it. */
  resize(columns: number, rows: number): Promise<void>
  /** Whether the cursor can be seen. */
  cursor(): Promise<boolean>
  /** Resolves with the exit status of the program, when it has ended. */
  ended(): Promise<number>
  /** Keeps a picture of it for people, under that name. */
  keep(name: string): Promise<void>
}

export type WindowOptions = {
  readonly cwd: string
  readonly columns?: number
  readonly rows?: number
  /** Lines that are kept after they have scrolled away. */ readonly history?: number
  readonly env?: { readonly [name: string]: string }
  /** Behind the command: redirections. */ readonly shell?: string
  /** Before it: a program that starts it. */ readonly before?: string
}

/** Runs `toolable` in a window of that size. */
export async function openWindow(
  args: readonly string[],
  {
    cwd,
    columns = 80,
    rows = 24,
    history = 5000,
    env = {},
    shell = '',
    before = '',
  }: WindowOptions,
): Promise<Window> {
  const folder = makeFolder()
  const socket = join(folder, 'tmux')
  sockets.add(socket)
  const words = [process.execPath, TOOLABLE_PATH, ...args]
    .map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`)
    .join(' ')
  // The shell outlives Ctrl-C, tells the status, and keeps the window open.
  writeFileSync(
    join(folder, 'main.sh'),
    `trap : INT\n${before} ${words} ${shell}\necho "[exit $?]"\nwhile :; do sleep 1000; done\n`,
  )
  const environment = Object.entries({
    ...cleanEnvironment({ LANG: 'C.UTF-8', TERM: 'tmux-256color', ...env }),
  })
  const tmux = async (...rest: readonly string[]): Promise<string> =>
    (
      await run('tmux', ['-u', '-f', '/dev/null', '-S', socket, ...rest], {
        env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', TMUX_TMPDIR: folder },
      })
    ).stdout
  await tmux(
    'start-server',
    ';',
    'set',
    '-g',
    'history-limit',
    String(history),
    ';',
    'set',
    '-g',
    'status',
    'off',
    ';',
    'new-session',
    '-d',
    '-x',
    String(columns),
    '-y',
    String(rows),
    '-c',
    cwd,
    'env',
    '-i',
    ...environment.map(([name, value]) => `${name}=${value}`),
    'sh',
    join(folder, 'main.sh'),
  )
  const look = (all = false): Promise<string> =>
    tmux('capture-pane', '-p', ...(all ? ['-S', '-'] : []))
  const until = async (wanted: RegExp | string, all = false): Promise<string> => {
    let seen = ''
    await expect.poll(async () => (seen = await look(all)), { interval: 100 }).toMatch(wanted)
    return seen
  }
  return {
    look,
    lookInColor: () => tmux('capture-pane', '-p', '-e'),
    until,
    press: async (...keys) => void (await tmux('send-keys', ...keys)),
    type: async (text) => void (await tmux('send-keys', '-l', text)),
    async resize(wide, high) {
      await tmux('resize-window', '-x', String(wide), '-y', String(high))
      // tmux tells the programs in a window a while after it has folded their lines.
      const terminal = (await tmux('display-message', '-p', '#{pane_tty}')).trim()
      await expect
        .poll(async () => (await run('stty', ['-F', terminal, 'size'])).stdout.trim())
        .toBe(`${high} ${wide}`)
    },
    cursor: async () => (await tmux('display-message', '-p', '#{cursor_flag}')).trim() === '1',
    async ended() {
      const [, status] = /\[exit (\d+)\]/.exec(await until(/\[exit \d+\]/)) ?? []
      return Number(status)
    },
    async keep(name) {
      mkdirSync(PICTURES, { recursive: true })
      writeFileSync(
        join(PICTURES, `${name}.txt`),
        await tmux('capture-pane', '-p', '-e', '-S', '-'),
      )
    },
  }
}

function end(socket: string): void {
  try {
    execFileSync('tmux', ['-S', socket, 'kill-server'], { stdio: 'ignore' })
  } catch {
    /* gone already */
  }
}
