import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { until } from '../mcp/support/until.ts'
import { WarmUnavailable } from '../../src/registry/child/child-call.ts'
import { isAlive } from '../support/processes.ts'
import { fixture, makeFolder, startProgram } from '../support/run-program.ts'
import { callWarm, openPool, targetOf, writeVersion } from './support/warm.ts'

const pidsOf = (pool: ReturnType<typeof openPool>): number[] =>
  pool.processes().map(({ pid }) => pid!)

describe.concurrent('warm programs that fail', () => {
  test('one that dies in a call fails all its calls with a retryable error, once, and the next call starts it anew [6.warm-crash] [6.warm-never-twice]', async () => {
    const pool = openPool()
    const target = targetOf('kept-warm.mjs')
    const marker = join(makeFolder(), 'died')
    await callWarm(pool, { ...target, tool: 'echo', input: { text: 'a' } })
    const [pid] = pidsOf(pool)
    const beside = callWarm(pool, { ...target, tool: 'echo', input: { text: 'b', after: 5000 } })
    const died = await callWarm(pool, { ...target, tool: 'die', input: { how: 'signal', marker } })
    expect(died).toMatchObject({
      ok: false,
      error: {
        code: 'DEPENDENCY',
        retryable: true,
        message: 'die: the program was killed by SIGKILL in the middle of the call',
        details: { signal: 'SIGKILL', stderr: 'about to die' },
      },
    })
    expect(await beside).toMatchObject({
      ok: false,
      error: { code: 'DEPENDENCY', retryable: true },
    })
    expect(readFileSync(marker, 'utf8')).toBe('x')
    expect(await callWarm(pool, { ...target, tool: 'echo', input: { text: 'c' } })).toMatchObject({
      ok: true,
    })
    expect(pidsOf(pool)).not.toContain(pid)
    await pool.close()
  })

  test('one that is killed while it is idle is replaced without a word [6.warm-crash]', async () => {
    const pool = openPool()
    const target = targetOf('kept-warm.mjs')
    await callWarm(pool, { ...target, tool: 'echo', input: { text: 'a' } })
    const [pid] = pidsOf(pool)
    process.kill(pid!, 'SIGKILL')
    await until(() => pool.processes().length === 0)
    expect(await callWarm(pool, { ...target, tool: 'where', input: {} })).toMatchObject({
      ok: true,
    })
    expect(isAlive(pid!)).toBe(false)
    await pool.close()
  })

  test('one that hangs is not given new calls, and is ended some time after a call was cancelled in vain [6.warm-crash]', async () => {
    const pool = openPool({ reactionTimeoutMs: 700 })
    const target = targetOf('kept-warm.mjs')
    await callWarm(pool, { ...target, tool: 'echo', input: { text: 'a' } })
    const [stuck] = pidsOf(pool)
    const marker = join(makeFolder(), 'spin')
    expect(
      await callWarm(
        pool,
        { ...target, tool: 'die', input: { how: 'spin', marker } },
        { timeout: '300ms' },
      ),
    ).toMatchObject({ error: { code: 'TIMEOUT' } })
    expect(existsSync(marker)).toBe(true)
    await until(() => !isAlive(stuck!))
    expect(await callWarm(pool, { ...target, tool: 'echo', input: { text: 'b' } })).toMatchObject({
      ok: true,
    })
    await pool.close()
  })

  test('one that was left alone for long is asked whether it is well, and replaced where it does not say so [6.warm-crash]', async () => {
    const pool = openPool({ healthCheckMs: 0, reactionTimeoutMs: 500 })
    const target = targetOf('kept-warm.mjs')
    await callWarm(pool, { ...target, tool: 'echo', input: { text: 'a' } })
    const [first] = pidsOf(pool)
    await callWarm(pool, { ...target, tool: 'echo', input: { text: 'b' } })
    expect(pidsOf(pool)).toEqual([first])
    process.kill(first!, 'SIGSTOP')
    expect(await callWarm(pool, { ...target, tool: 'echo', input: { text: 'c' } })).toMatchObject({
      ok: true,
    })
    await until(() => !isAlive(first!))
    await pool.close()
  })

  test('one that does not serve is told from one that does, and not tried again at once [6.warm-fallback]', async () => {
    // Who is heard is heard however slow the machine is; only silence is waited for.
    const pools = {
      hasty: openPool({ startTimeoutMs: 400 }),
      patient: openPool({ startTimeoutMs: 60_000 }),
    }
    const folder = makeFolder()
    const script = (name: string, text: string): string => {
      writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`)
      chmodSync(join(folder, name), 0o755)
      return join(folder, name)
    }
    const starts = join(folder, 'starts')
    const cases = {
      'ends at once': {
        command: [script('ends', `echo x >> ${starts}; echo no such flag >&2; exit 2`)],
        reason: 'it exited with 2 instead of serving: no such flag',
      },
      'says something else': {
        command: [script('other', 'echo \'{"serve":2}\'; echo "[]"; read line')],
        reason: 'it did not say within 0.4 seconds that it serves',
      },
      'says nothing': {
        command: [script('silent', 'sleep 60')],
        reason: 'it did not say within 0.4 seconds that it serves',
      },
      'is not there': { command: [join(folder, 'nothing')], reason: 'it could not be started' },
      floods: {
        command: [script('floods', 'yes')],
        reason: 'it says many other things instead of serving',
      },
    }
    for (const { command, reason } of Object.values(cases)) {
      const pool = reason.includes('within') ? pools.hasty : pools.patient
      const call = {
        ...targetOf('x', { cwd: folder }),
        command: command as [string],
        tool: 'x',
        input: {},
      }
      const failed = callWarm(pool, call)
      await expect(failed).rejects.toThrow(WarmUnavailable)
      await expect(failed).rejects.toThrow(reason)
      await expect(callWarm(pool, call)).rejects.toThrow(reason)
    }
    expect(readFileSync(starts, 'utf8')).toBe('x\n')
    await until(() => [pools.hasty, pools.patient].every((pool) => pool.processes().length === 0))
  })
})

describe.concurrent('warm programs that change and end', () => {
  test('a program that was replaced answers with its new version; calls in the old one end there [6.warm-change]', async () => {
    const pool = openPool()
    const file = join(makeFolder(), 'versions.mjs')
    writeVersion(file, 'one')
    const target = targetOf(file)
    const said = async (after = 0) =>
      (
        (await callWarm(pool, { ...target, tool: 'said', input: { after } })) as {
          readonly result: { readonly version: string; readonly pid: number }
        }
      ).result
    const { pid } = await said()
    const slow = said(700)
    await said()
    writeVersion(`${file}.new`, 'two')
    renameSync(`${file}.new`, file)
    expect(await said()).toMatchObject({ version: 'two' })
    expect(await slow).toEqual({ version: 'one', pid })
    await until(() => !isAlive(pid))
    writeVersion(file, 'three in place')
    expect(await said()).toMatchObject({ version: 'three in place' })
    pool.refresh()
    const [before] = pidsOf(pool)
    expect((await said()).pid).not.toBe(before)
    await pool.close()
  })

  test('one that nobody calls is ended, and started again by the next call [6.warm-idle]', async () => {
    const pool = openPool({ idleMs: 50 })
    const target = targetOf('kept-warm.mjs')
    await callWarm(pool, { ...target, tool: 'echo', input: { text: 'a', after: 200 } })
    const [pid] = pidsOf(pool)
    await until(() => pool.processes().length === 0)
    expect(isAlive(pid!)).toBe(false)
    expect(await callWarm(pool, { ...target, tool: 'echo', input: { text: 'b' } })).toMatchObject({
      ok: true,
    })
    await pool.close()
  })

  test('of too many, the one that was not used for longest goes; where all are busy, one more is not kept [6.warm-idle]', async () => {
    const pool = openPool({ maxProcesses: 2 })
    const [first, second, third] = [
      targetOf('kept-warm.mjs'),
      targetOf('kept-warm.mjs'),
      targetOf('kept-warm.mjs'),
    ]
    const where = async (target: typeof first, input = {}) =>
      callWarm(pool, { ...target, tool: 'echo', input: { text: 'a', ...input } })
    await where(first)
    const [oldest] = pidsOf(pool)
    await where(second)
    await where(third)
    await until(() => !isAlive(oldest!))
    expect(pool.processes()).toHaveLength(2)
    const busy = [where(second, { after: 1500 }), where(third, { after: 1500 })]
    await until(() => pool.processes().every(({ calls }) => calls === 1))
    await expect(where(first)).rejects.toThrow('2 programs are busy already')
    await Promise.all(busy)
    await pool.close()
  })

  test('a host ends although programs are warm, and they end with it, however it ends [6.warm-leaves-nothing]', async () => {
    const hook = fileURLToPath(new URL('../setup/typescript-hook.mjs', import.meta.url))
    const start = (how: string) =>
      startProgram('keeps-programs-warm.mjs', [how, fixture('kept-warm.mjs')], {
        nodeArgs: ['--no-warnings', '--import', hook],
      })
    const leaves = await start('leaves').ended
    expect(leaves.status).toBe(0)
    await until(() => !isAlive(leaves.json.pid))
    const stays = start('stays')
    await stays.said('}')
    stays.kill('SIGKILL')
    const {
      json: { pid },
    } = await stays.ended
    await until(() => !isAlive(pid))
  })
})
