import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeProject } from '../runner/support.ts'
import { keepPicture, openPage } from './support/browser.ts'
import { startDashboard } from './support/dashboard.ts'

const LONG = { timeout: 60_000, interval: 50 }
const project = makeProject({ 'says-what-it-is-told.py': 'description: Says what it is told' })
mkdirSync(join(project.folder, 'workflows'))
project.write('workflows/release.yaml', `name: release
summary: Scan, convert, ask, publish
input: {files: 'string[]'}
steps:
  - {name: scan, command: says_what_it_is_told scan.jsonl}
  - name: both
    tasks:
      - {name: left, command: says_what_it_is_told left.jsonl}
      - {name: right, command: says_what_it_is_told right.jsonl, on_error: continue, retry: 0}
  - name: pages
    each: {items: '\${{ input.files }}', as: file, do: [{name: copy, command: 'says_what_it_is_told \${{ file }}'}]}
  - {name: never, when: 'input.files.length > 9', command: says_what_it_is_told never.jsonl}
  - {name: approve, type: ai_decision, decision_type: approve, instruction: 'Publish?', options: [publish, leave]}
finally:
  - {name: clean, command: says_what_it_is_told clean.jsonl}
`)
const files = ['a.jsonl', 'b.jsonl', 'c.jsonl'].map((name) => join(project.folder, name))
for (const name of ['scan', 'left', 'right', 'a', 'b', 'c', 'clean']) writeFileSync(join(project.folder, `${name}.jsonl`), '{"type":"start"}\n')
const say = (name: string, line: object): void => appendFileSync(join(project.folder, `${name}.jsonl`), `${JSON.stringify(line)}\n`)
const DONE = { type: 'result', status: 'ok', result: { done: true } }
const dashboard = await startDashboard(project.folder)

describe('the graph of a workflow that runs', () => {
  test('follows it node by node, from the first to the answer and the end [10.run-graph]', async () => {
    const started = await project.toolable(['workflow', 'run', '--detach', 'release', JSON.stringify({ files })])
    expect(started.stderr).toBe('')
    const id = started.json.result.run_id as string
    const page = await openPage(dashboard, { path: `/runs/${id}`, height: 1300 })
    const graph = page.getByRole('group', { name: 'Graph of the steps' })
    const node = (name: string, state: string) => graph.getByRole('button', { name: new RegExp(`^\\S* ?${name}\\s*, ${state}`) })
    await node('scan', 'running').waitFor()
    await node('left', 'pending').waitFor()
    say('scan', DONE)
    await node('scan', 'ok').waitFor()
    await node('left', 'running').waitFor()
    await node('right', 'running').waitFor()
    say('left', { type: 'progress', pct: 40, msg: 'page 4' })
    await node('left', 'running').getByText('40 %').waitFor()
    say('left', DONE)
    await node('left', 'ok').waitFor()
    say('right', { type: 'error', code: 'E_INPUT_NOT_FOUND', msg: 'there is no page 7' })
    await node('right', 'failed').waitFor()
    await node('copy', 'running').getByText('0 of 3').waitFor()
    say('b', DONE)
    await node('copy', 'running').getByText('1 of 3').waitFor()
    await keepPicture(page, 'run-graph-live')
    say('a', DONE)
    say('c', DONE)
    await node('copy', 'ok').getByText('3 of 3').waitFor()
    await node('never', 'skipped').waitFor()
    await node('approve', 'waiting').waitFor()
    await keepPicture(page, 'run-graph-waiting')
    await page.getByRole('region', { name: 'Waiting for you' }).getByRole('button', { name: 'publish' }).click()
    await node('approve', 'ok').waitFor()
    await node('clean', 'running').waitFor()
    say('clean', DONE)
    await node('clean', 'ok').waitFor()
    await page.getByRole('heading', { level: 1 }).getByText('completed').waitFor()

    // A step is selected everywhere.
    await node('right', 'failed').click()
    const panel = page.getByRole('complementary', { name: 'Step both/right' })
    await panel.getByText('there is no page 7').waitFor()
    expect(await page.getByRole('list', { name: 'Rows of the timeline' }).getByRole('button', { name: 'right, failed' }).getAttribute('aria-pressed')).toBe('true')
    await keepPicture(page, 'run-graph-done')
    await panel.getByRole('button', { name: 'Its events' }).click()
    const events = page.getByRole('list', { name: 'Events' })
    await events.getByText('E_INPUT_NOT_FOUND').first().waitFor()
    expect(await events.getByText('both/left').count()).toBe(0)
    await page.getByRole('tab', { name: 'Graph' }).click()
    await panel.getByRole('link', { name: /^r-/ }).click()
    await page.getByText('step both/right of').waitFor()
    await page.getByRole('tab', { name: 'Children & parent' }).click()
    await page.getByRole('list', { name: 'Runs around this one' }).getByRole('link', { name: id }).click()
    await page.getByRole('tab', { name: 'Children & parent' }).click()
    await expect.poll(() => page.getByRole('list', { name: 'Runs around this one' }).getByRole('link', { name: /^r-/ }).count(), LONG).toBe(8)
  })
})
