import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { callChild, errorOf, foreign, hostEnv, resultOf } from '../support/call-child.ts'
import { isAlive, untilGone } from '../support/processes.ts'

const folder = mkdtempSync(join(tmpdir(), 'child-faults-'))
afterAll(() => rmSync(folder, { recursive: true }))

const appears = async (file: string): Promise<void> => {
  while (!existsSync(file)) await sleep(10)
}

describe('a call that ends before its child [6.child-cancel]', () => {
  test('is answered at once, and the whole tree is gone when the child is over', async () => {
    const file = join(folder, 'pids')
    const running = new Set<Promise<unknown>>()
    const controller = new AbortController()
    const calling = callChild(
      { form: 'flags', command: ['sh', foreign('starts-grandchildren.sh'), file] },
      {},
      { services: { running }, options: { env: hostEnv, signal: controller.signal } },
    )
    await appears(file)
    controller.abort()
    expect(errorOf(await calling).code).toBe('CANCELLED')
    expect(running.size).toBe(1)
    await Promise.all(running)
    expect(running.size).toBe(0)
    const pids = readFileSync(file, 'utf8').trim().split(' ').map(Number)
    expect(pids).toHaveLength(3)
    await untilGone(pids)
  })

  test('before it began, starts nothing', async () => {
    const file = join(folder, 'started')
    expect(
      errorOf(
        await callChild(
          { form: 'flags', command: ['touch', file] },
          {},
          { options: { env: hostEnv, signal: AbortSignal.abort() } },
        ),
      ).code,
    ).toBe('CANCELLED')
    expect(existsSync(file)).toBe(false)
  })
})

describe('a child that misbehaves [6.child-cancel]', () => {
  test('and never reads its stdin is no trouble', async () => {
    expect(
      resultOf(
        await callChild(
          { form: 'stdin', command: ['sh', foreign('never-reads-stdin.sh')] },
          { text: 'x'.repeat(1_000_000) },
        ),
      ),
    ).toEqual({ read: 0 })
  })

  test('and sleeps on a full stdin ends with its call', async () => {
    const running = new Set<Promise<unknown>>()
    expect(
      errorOf(
        await callChild(
          { form: 'stdin', command: ['sleep', '300'] },
          { text: 'x'.repeat(1_000_000) },
          { services: { running }, options: { env: hostEnv, timeout: 0.2 } },
        ),
      ).code,
    ).toBe('TIMEOUT')
    await Promise.all(running)
  })

  test('and closes its stdout early has answered', async () => {
    expect(
      resultOf(
        await callChild({ form: 'json', command: ['python3', foreign('closes-stdout-early.py')] }),
      ),
    ).toEqual({ said: 'enough' })
  })

  test('and prints ten megabytes is heard to the end', async () => {
    const { text } = resultOf<{ text: string }>(
      await callChild({
        form: 'json',
        command: [process.execPath, foreign('prints-ten-megabytes.mjs')],
      }),
    )
    expect(text).toHaveLength(10 * 1024 * 1024)
  })

  test('and prints without end is ended', async () => {
    expect(
      errorOf(
        await callChild({ form: 'flags', command: ['sh', foreign('prints-without-end.sh')] }),
      ),
    ).toMatchObject({ code: 'OUTPUT_LIMIT', retryable: false })
  })

  test('and leaves a daemon with its pipes behind is answered without waiting for it', async () => {
    const { pid } = resultOf<{ pid: number }>(
      await callChild({
        form: 'flags',
        command: ['sh', '-c', 'sleep 300 & echo "{\\"pid\\":$!}"'],
      }),
    )
    // It is killed before the answer; a busy system takes its time until it is gone.
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  test('and nests its answer a hundred thousand deep fails alone', async () => {
    expect(
      errorOf(
        await callChild({
          form: 'json',
          command: ['perl', '-e', 'print "[" x 100000, "]" x 100000'],
        }),
      ).code,
    ).toBe('INTERNAL')
    expect(resultOf(await callChild({ form: 'json', command: ['echo'] }))).toEqual({})
  })
})
