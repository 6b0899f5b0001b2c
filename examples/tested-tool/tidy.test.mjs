// region command-line
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { callTool, expectPureStdout, runCli, schemaSnapshot } from 'toolable/testing'
import { program, tidy } from './tidy.mjs'

test('a person at the terminal decides', async () => {
  const { exitCode, stdout, stderr, events } = await runCli(program, ['lamp', 'chair'], {
    tty: true,
    answers: [true, false],
  })
  assert.equal(exitCode, 0)
  assert.match(stdout, /lamp/)
  assert.match(stderr, /Throw away the chair\? \[y\/n\]/)
  assert.deepEqual(events, [{ type: 'progress', message: 'the lamp is gone' }])
})

test('an agent gets one document, and is told how to go on', async () => {
  const result = await runCli(program, ['lamp'], { env: { TOOLABLE_CALLER: 'my-agent' } })
  assert.equal(result.exitCode, 77)
  assert.equal(
    result.outcome?.ok === false && result.outcome.error.suggestion?.example,
    'tidy lamp --session',
  )
  expectPureStdout(result)
})
// endregion

// region session
test('a program answers by JSON lines', async () => {
  const { outcome } = await runCli(program, ['lamp', 'chair', '--session'], {
    answers: { lamp: true, chair: false },
  })
  assert.deepEqual(outcome?.ok && outcome.result, { thrown: ['lamp'] })
})
// endregion

// region call
test('a dry run plans and asks nobody', async () => {
  const { plan } = await callTool(tidy, { things: ['lamp', 'chair'] }, { dryRun: true })
  assert.deepEqual(plan, [
    { action: 'throw', target: 'lamp' },
    { action: 'throw', target: 'chair' },
  ])
})

test('every thing is asked about', async () => {
  const prompts = /** @type {string[]} */ ([])
  const { outcome, events } = await callTool(
    tidy,
    { things: ['lamp'] },
    {
      answers(question) {
        prompts.push(question.prompt)
        return true
      },
    },
  )
  assert.deepEqual(outcome.ok && outcome.result, { thrown: ['lamp'] })
  assert.deepEqual(prompts, ['Throw away the lamp?'])
  assert.equal(events.length, 1)
})
// endregion

// region snapshot
test('nothing changed that callers depend on', async () => {
  const kept = JSON.parse(readFileSync(new URL('tidy.schema.json', import.meta.url), 'utf8'))
  assert.deepEqual(await schemaSnapshot(tidy), kept)
})
// endregion
