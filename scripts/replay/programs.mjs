// Starts programs for the replay: each gets its whole environment from here.
import { spawn } from 'node:child_process'
import { dirname } from 'node:path'

// Only a program that hangs reaches it.
const TIMEOUT_MS = 120_000

/** The environment of every program. */
export function makeEnvironment({ home, tmp }, extra = {}) {
  return {
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    TMPDIR: tmp,
    TZ: 'UTC',
    LANG: 'C.UTF-8',
    COLUMNS: '100',
    NO_COLOR: '1',
    ...extra,
  }
}

/** A program that runs, with everything that it has said. */
export class Program {
  #chunks = { stdout: [], stderr: [] }
  #listeners = new Set()
  #hasEnded = false

  constructor(command, args, { cwd, env, hasInput }) {
    const stdio = [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe']
    this.child = spawn(command, args, { cwd, env, stdio, detached: true })
    this.child.stdin?.on('error', () => undefined)
    for (const stream of ['stdout', 'stderr']) {
      this.child[stream].on('data', (chunk) => {
        this.#chunks[stream].push(chunk)
        this.#notify()
      })
    }
    this.ended = new Promise((resolve, reject) => {
      const watchdog = setTimeout(() => {
        this.killGroup()
        reject(
          new Error(
            `${command} ${args.join(' ')} did not end\n${this.text('stdout')}${this.text('stderr')}`,
          ),
        )
      }, TIMEOUT_MS)
      this.child.on('error', reject)
      this.child.on('close', (status, signal) => {
        clearTimeout(watchdog)
        this.#hasEnded = true
        this.#notify()
        resolve(signal ?? String(status))
      })
    })
    this.ended.catch(() => undefined)
  }

  text(stream) {
    return Buffer.concat(this.#chunks[stream]).toString()
  }

  /** Waits until `find`, given stdout and stderr, returns something other than undefined. */
  waitFor(find, what) {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = find(this.text('stdout'), this.text('stderr'))
        if (found === undefined && !this.#hasEnded) return
        this.#listeners.delete(look)
        if (found !== undefined) resolve(found)
        else reject(new Error(`ended before ${what}\n${this.text('stdout')}${this.text('stderr')}`))
      }
      this.#listeners.add(look)
      look()
    })
  }

  write(text) {
    this.child.stdin.write(text)
  }

  closeInput() {
    this.child.stdin?.end()
  }

  // What a program started goes with it.
  killGroup() {
    try {
      if (this.child.pid !== undefined) process.kill(-this.child.pid, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  }

  #notify() {
    for (const listener of [...this.#listeners]) listener()
  }
}
