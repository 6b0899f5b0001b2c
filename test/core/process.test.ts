import { expect, test } from 'vitest'
import { runProgram } from '../support/run-program.ts'

test('[4.failure-is-a-value] process.exit in a handler fails the call and not the host, wherever it is called; that of the host is meant', async () => {
  const { status, json, stderr } = await runProgram('calls-that-exit.mjs')
  const exited = (code: number | '') => ({
    ok: false,
    code: 'INTERNAL',
    message: `the tool called process.exit(${code})`,
  })
  expect(json).toEqual({
    sync: exited(3),
    async: exited(3),
    timer: exited(3),
    immediate: exited(''),
    nextTick: exited(1),
    floating: exited(3),
    preValidate: exited(3),
    context: exited(3),
    schema: exited(3),
    generator: exited(3),
    asyncGenerator: exited(3),
    caught: exited(3),
    resource: exited(3),
    after: { ok: true, result: 'done' },
  })
  expect(stderr).toBe('')
  expect(status).toBe(7)
})

test('[4.failure-is-a-value] nothing keeps the process alive after a call, and a long-lived signal keeps no listener', async () => {
  const { status, json, stderr } = await runProgram('leaves-nothing-behind.mjs')
  expect(json).toEqual({
    codes: ['ok', 'INTERNAL', 'TIMEOUT', 'TIMEOUT', 'ok', 'ok', 'ok', 'CANCELLED', 'CANCELLED'],
    timers: [],
    during: 1,
    listeners: 0,
    warnings: [],
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})
