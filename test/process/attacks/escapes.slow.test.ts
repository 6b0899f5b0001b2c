import { closeSync, existsSync, openSync, rmSync, mkdtempSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { detectCapabilities } from '../../../src/sandbox/capabilities.ts'
import {
  attack,
  attacker,
  attackers,
  env,
  folder,
  inSandbox,
  isRoot,
  profileOf,
  said,
  secret,
  tell,
} from './support.ts'
import { runChild } from '../../../src/process/run.ts'

const SOURCE = new URL('../../../src/process/run.ts', import.meta.url).href
const HOOK = fileURLToPath(new URL('../../setup/typescript-hook.mjs', import.meta.url))

describe('a tool that was granted nothing', () => {
  test('[7.sandbox-abilities] this machine can hold it', async () => {
    expect(await detectCapabilities(env)).toMatchObject({
      level: 'L3',
      reasons: [],
      details: {
        files: true,
        network: true,
        processes: true,
        seccomp: true,
        privileges: true,
        nproc: true,
        user: { isDropped: isRoot },
      },
    })
  })

  test('[7.sandbox-reads] reads nothing outside', async () => {
    const got = said(
      await attack(attacker('reads-outside.mjs', secret, homedir(), String(process.pid))),
    )
    expect(got).toEqual([])
    tell(`reads outside ${(got as string[]).length}/5`)
  })

  test('[7.sandbox-writes] writes nothing outside, and no file appears', async () => {
    const places = ['/', '/etc', '/usr/bin', folder, attackers, homedir()]
    const got = said(await attack(attacker('writes-outside.py', ...places)))
    expect(got).toEqual([])
    const appeared = [...places, '/tmp', '/var/tmp', '/dev/shm'].filter((place) =>
      existsSync(join(place, 'written-by-an-attack')),
    )
    expect(appeared).toEqual([])
    tell(`writes outside ${(got as string[]).length}/6, host files ${appeared.length}`)
  })

  test('[7.sandbox-reads] gets at nothing by links and other names', async () => {
    const { stdout } = await attack(attacker('escapes-by-links.sh', secret))
    expect(stdout.toString()).toBe('done\n')
    tell('symlink, hardlink and /proc escapes 0/6')
  })

  test('[7.sandbox-leaks] inherits nothing of its starter, which has a secret in its environment and an odd descriptor open', async () => {
    const profile = profileOf()
    const script = join(folder, 'starter.mjs')
    writeFileSync(
      script,
      `const { runChild } = await import(${JSON.stringify(SOURCE)})
const end = await runChild({ ...${JSON.stringify(inSandbox(profile))}, command: [...${JSON.stringify(attacker('leaks.py', 'canary-of-the-starter'))}, String(process.pid), '1'] })
console.log(end.stdout.toString() || JSON.stringify({ ...end, stderr: end.stderr.toString() }))\n`,
    )
    const odd = openSync(secret, 'r')
    const stdio: (number | 'ignore' | 'pipe')[] = Array.from(
      { length: 252 },
      () => 'ignore' as const,
    )
    stdio[1] = stdio[2] = 'pipe'
    stdio[251] = odd
    const { spawn } = await import('node:child_process')
    const starter = spawn(process.execPath, ['--import', HOOK, script], {
      env: { ...env, CANARY: 'canary-of-the-starter' },
      stdio,
    })
    closeSync(odd)
    let text = ''
    for (const stream of [starter.stdout!, starter.stderr!])
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
    await new Promise((resolve) => starter.once('close', resolve))
    expect(JSON.parse(text)).toEqual([])
    tell('environment, ptrace, memory, signal and descriptor leaks 0/5')
  })

  test('[7.sandbox-calls] is refused every call to the kernel that leads out, and none that it needs', async () => {
    expect(said(await attack(attacker('forbidden-calls.py')))).toEqual({ allowed: [], missing: [] })
    expect(await attack(attacker('forbidden-calls.py', 'foreign'))).toMatchObject({
      reason: 'exited',
      status: null,
      signal: 'SIGSYS',
    })
    tell('forbidden calls 0/37, foreign calls killed')
  })

  test('[7.sandbox-leaks] runs no code of its own before the sandbox closes', async () => {
    const mark = join(folder, 'loaded-outside')
    const profile = profileOf()
    const library = {
      LD_PRELOAD: `${profile.workspace}/evil.so`,
      LD_AUDIT: `${profile.workspace}/evil.so`,
      BASH_ENV: `${profile.workspace}/evil.sh`,
      ENV: `${profile.workspace}/evil.sh`,
    }
    writeFileSync(join(profile.workspace, 'evil.sh'), `touch ${mark}\n`)
    const { stderr } = await runChild({
      ...inSandbox(profile),
      env: { ...env, ...library },
      command: ['/usr/bin/env'],
    })
    // The loader complains once for each program that it is asked to load it into; all of them are
    // inside.
    expect(stderr.toString()).toContain('evil.so')
    expect(stderr.toString()).not.toMatch(/bwrap|setpriv/)
    expect(existsSync(mark)).toBe(false)
  })
})

describe.each(
  isRoot
    ? [['where only root gets at the workspace', homedir()]]
    : [['in the home of the user', homedir()]],
)('a tool %s', (_name, home) => {
  test('[7.sandbox-reads] [7.sandbox-writes] [7.sandbox-calls] is held as well', async () => {
    const base = mkdtempSync(join(home, '.toolable-attack-'))
    try {
      const workspace = mkdtempSync(join(base, 'work-'))
      writeFileSync(join(base, 'secret'), 'secret', { mode: 0o644 })
      const run = async (command: [string, ...string[]]): Promise<unknown> =>
        said(await runChild({ ...inSandbox(profileOf({}, { workspace })), command }))
      expect(
        await run(
          attacker(
            'reads-outside.mjs',
            join(base, 'secret'),
            join(home, '.ssh'),
            String(process.pid),
          ),
        ),
      ).toEqual([])
      expect(
        await run(attacker('writes-outside.py', '/', '/etc', '/usr/bin', base, home, workspace)),
      ).toEqual([workspace])
      expect(await run(attacker('forbidden-calls.py'))).toEqual({ allowed: [], missing: [] })
      expect(await run(attacker('leaks.py', 'no-such-word', String(process.pid), '1'))).toEqual([])
      expect(existsSync(join(workspace, 'written-by-an-attack'))).toBe(true)
    } finally {
      rmSync(base, { recursive: true, force: true })
    }
  })
})
