import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { makeProject } from '../runner/support.ts'
import { writeRun } from '../views/support/make-runs.ts'
import { keepPicture, openPage } from './support/browser.ts'
import { startDashboard } from './support/dashboard.ts'
import { question, startTold } from './support/told-run.ts'

const project = makeProject({
  'says-what-it-is-told.py': 'description: Says what it is told',
  'makes-files.py':
    'inputs: [{name: input, type: path, required: true}, {name: output, type: path, required: true}]',
  'tries-to-be-obeyed.py': 'description: Tries to be obeyed',
  'fails-twice.py': 'description: Fails twice',
})
const dashboard = await startDashboard(project.folder)
const LONG = { interval: 50 }
const open = (id: string, query = '', more = {}) =>
  openPage(dashboard, { path: `/runs/${id}${query === '' ? '' : `?${query}`}`, ...more })
const go = (page: Page, tab: string) => page.getByRole('tab', { name: tab }).click()

describe('the page of a run', () => {
  test('moves with the run: bar, steps, timeline, events, and its end [10.run-live]', async () => {
    const run = await startTold(project, dashboard, {
      type: 'progress',
      step: 'read',
      pct: 10,
      msg: 'page 1 of 10',
    })
    const page = await open(run.id)
    await page.getByRole('heading', { level: 1 }).getByText('running').waitFor()
    const rows = page.getByRole('list', { name: 'Rows of the timeline' })
    await rows.getByRole('button', { name: 'read, running' }).waitFor()
    run.say({ type: 'progress', step: 'write', pct: 60, msg: 'page 6 of 10' })
    await rows.getByRole('button', { name: 'read, ok' }).waitFor()
    await rows.getByRole('button', { name: 'write, running' }).waitFor()
    await expect
      .poll(
        () =>
          page
            .getByRole('progressbar', { name: 'Progress', exact: true })
            .getAttribute('aria-valuenow'),
        LONG,
      )
      .toBe('60')
    await page.getByText('Ends at the latest in').waitFor()
    await page.getByText('last heartbeat').waitFor()
    await keepPicture(page, 'run-live')
    await go(page, 'Events')
    const events = page.getByRole('list', { name: 'Events' })
    await events.getByText('page 6 of 10').waitFor()
    run.say({ type: 'log', level: 'info', msg: 'nearly there' })
    await events.getByText('nearly there').waitFor()
    run.say({ type: 'result', status: 'ok', result: { pages: 10 } })
    await page.getByRole('heading', { level: 1 }).getByText('completed').waitFor()
    await go(page, 'Input & result')
    await page.getByRole('region', { name: 'Result' }).getByText('pages: 10').waitFor()
    await page.getByRole('button', { name: 'Retry', exact: true }).waitFor()
  })

  test('a run is cancelled after a question, and says why it ended [10.run-actions]', async () => {
    const run = await startTold(project, dashboard)
    const page = await open(run.id)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page
      .getByRole('group', { name: 'Cancel this run?' })
      .getByRole('button', { name: 'Cancel' })
      .click()
    await run.ends('cancelled')
    await page.getByRole('heading', { level: 1 }).getByText('cancelled').waitFor()
    await page.getByRole('region', { name: 'Why it was cancelled' }).waitFor()
  })

  test('a question is answered where the run is looked at [10.run-question]', async () => {
    const run = await startTold(project, dashboard, question({ prompt: 'Which colour?' }))
    const page = await open(run.id)
    const card = page
      .getByRole('region', { name: 'Waiting for you' })
      .getByRole('article', { name: 'Which colour?' })
    await card.getByRole('textbox', { name: 'Answer' }).fill('green')
    await keepPicture(page, 'run-waiting')
    await card.getByRole('button', { name: 'Send the answer' }).click()
    await run.hears('was told \\"green\\"')
    await card.waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 1 }).getByText('running').waitFor()
    run.say({ type: 'result', status: 'ok' })
    await run.ends('completed')
  })

  test('a failed run begins with what went wrong, what to do, and what was said last [10.run-failure]', async () => {
    const run = await startTold(
      project,
      dashboard,
      { type: 'progress', step: 'parse', msg: 'reading' },
      { type: 'log', level: 'warn', msg: 'line 7 is odd' },
      {
        type: 'error',
        code: 'E_SCHEMA_MISMATCH',
        msg: 'row 7 has no name',
        hint: 'Add the column name',
        retryable: false,
      },
    )
    await run.ends('failed')
    const page = await open(run.id)
    const card = page.getByRole('region', { name: 'Why it failed' })
    await card.getByText('Add the column name').first().waitFor()
    const text = await card.textContent()
    for (const said of [
      'E_SCHEMA_MISMATCH',
      'row 7 has no name',
      'user_error',
      'A retry will not help',
      'line 7 is odd',
    ])
      expect(text).toContain(said)
    await card.getByRole('button', { name: 'parse' }).click()
    await expect
      .poll(
        () =>
          page
            .getByRole('list', { name: 'Rows of the timeline' })
            .getByRole('button', { name: 'parse, failed' })
            .getAttribute('aria-pressed'),
        LONG,
      )
      .toBe('true')
    expect(new URL(page.url()).searchParams.get('step')).toBe('parse')
    await keepPicture(page, 'run-failed')
    const dark = await open(run.id, '', { dark: true, width: 400, height: 900 })
    await dark.getByRole('region', { name: 'Why it failed' }).waitFor()
    expect(await dark.evaluate(() => document.documentElement.scrollWidth)).toBe(400)
    await keepPicture(dark, 'run-failed-narrow-dark')
  })

  test('it is started again with another input, and its files are hashed again [10.run-retry] [10.run-artifacts]', async () => {
    project.write('one.txt', 'hello')
    const done = await project.toolable([
      'run',
      'makes_files',
      '--input',
      'one.txt',
      '--output',
      'two.txt',
    ])
    expect(done.stderr).toBe('')
    const first = project.log(done.lines[0].run_id as string)[0]!['run_id'] as string
    const page = await open(first)
    await page.getByRole('button', { name: 'Retry with changes' }).click()
    const form = page.getByRole('form', { name: 'Retry with changes' })
    expect(await form.getByRole('textbox', { name: 'input' }).inputValue()).toContain('one.txt')
    await form.getByRole('textbox', { name: 'output' }).fill('three.txt')
    await keepPicture(page, 'run-retry')
    await form.getByRole('button', { name: 'Start again' }).click()
    await page.waitForURL((url) => url.pathname !== `/runs/${first}`)
    await page.getByRole('heading', { level: 1 }).getByText('completed').waitFor()
    const second = new URL(page.url()).pathname.split('/').at(-1)!
    expect((await dashboard.get(`/api/runs/${second}`)).command).toContain('three.txt')
    await go(page, 'Artifacts')
    const row = page
      .getByRole('table', { name: 'Artifacts' })
      .getByRole('row')
      .filter({ hasText: 'extra.txt' })
    await row.getByRole('button', { name: 'Verify now' }).click()
    await row.getByText('unchanged').waitFor()
    const waiting = page.waitForEvent('download')
    await row.getByRole('link', { name: 'Download' }).click()
    expect(readFileSync(await (await waiting).path(), 'utf8')).toBe('extra')
    const kept = (await dashboard.get(`/api/runs/${second}`)).artifacts.find(
      (one: { readonly name: string }) => one.name === 'extra.txt',
    )
    expect(kept.kept).toBe(true)
    writeFileSync(join(project.run(second), 'artifacts', 'extra.txt'), 'other')
    await row.getByRole('button', { name: 'Verify now' }).click()
    await row.getByText('changed since it was recorded').waitFor()
    await keepPicture(page, 'run-artifacts')
  })

  test('attempts are told with why there was another one [10.run-tabs]', async () => {
    const done = await project.toolable(['run', 'fails_twice'])
    const page = await open(done.lines[0].run_id as string, 'tab=attempts')
    const rows = page.getByRole('table', { name: 'Attempts' }).getByRole('row')
    await expect.poll(() => rows.count(), LONG).toBe(4)
    expect(await rows.nth(2).textContent()).toContain('a retry of the runner')
    expect(await rows.nth(3).textContent()).toContain('completed')
    await go(page, 'Environment & policy')
    await page
      .getByRole('region', { name: 'How it was started' })
      .getByText('toolable run')
      .first()
      .waitFor()
    await page
      .getByRole('region', { name: 'Rights and limits' })
      .getByText('3 times at most')
      .waitFor()
    await go(page, 'Children & parent')
    await page.getByText('It stands alone').waitFor()
    const waiting = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    const exported = JSON.parse(readFileSync(await (await waiting).path(), 'utf8')) as {
      readonly row: { readonly run_id: string }
      readonly events: readonly unknown[]
    }
    expect([exported.row.run_id, exported.events.length]).toEqual([
      done.lines[0].run_id,
      project.log(done.lines[0].run_id as string).length,
    ])
  })

  test('a range of the timeline filters the events, and the address holds it [10.run-brush]', async () => {
    const say = (msg: string) => ({ type: 'log', level: 'info', msg })
    const id = writeRun(join(project.folder, '.runs'), {
      id: 'r-0123456789',
      tool: 'tools.says_what_it_is_told',
      created: Date.now() - 60_000,
      lasted: 5000,
      said: [
        { type: 'runner_start', level: 'L3' },
        say('the first'),
        say('in between'),
        say('the second'),
        { type: 'result', status: 'ok' },
        { type: 'runner_end', state: 'completed', rc: 0 },
      ],
    })
    const page = await open(id, 'tab=events')
    const events = page.getByRole('list', { name: 'Events' })
    await events.getByText('the second').waitFor()
    const plot = page.locator('.timeline .plot svg')
    const box = (await plot.boundingBox())!
    await page.mouse.move(box.x + box.width - 2, box.y + 30)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.55, box.y + 32, { steps: 4 })
    await page.mouse.up()
    await events.getByText('the first').waitFor({ state: 'detached' })
    await events.getByText('the second').waitFor()
    expect(new URL(page.url()).searchParams.get('range')).toMatch(/^\d+-\d+$/)
    await page.reload()
    await page.getByRole('list', { name: 'Events' }).getByText('the second').waitFor()
    expect(await page.getByRole('list', { name: 'Events' }).getByText('the first').count()).toBe(0)
    await page.getByRole('button', { name: 'Clear the range' }).click()
    await events.getByText('the first').waitFor()
  })

  test('nothing that a tool says is obeyed, wherever it says it [10.run-untrusted]', async () => {
    const done = await project.toolable(['run', 'tries_to_be_obeyed'])
    const id = done.lines[0].run_id as string
    const failed = (await project.toolable(['run', 'tries_to_be_obeyed', '--fail'])).lines[0]
      .run_id as string
    for (const [run, tabs] of [
      [
        id,
        [
          'Steps',
          'Events',
          'Logs',
          'Input & result',
          'Artifacts',
          'Attempts',
          'Environment & policy',
        ],
      ],
      [failed, ['Logs']],
    ] as const) {
      const page = await open(run)
      await page.getByRole('heading', { level: 1 }).waitFor()
      for (const tab of tabs) {
        await go(page, tab)
        await page
          .getByText(/onerror=|error: the first one|window\.obeyed|attempt/)
          .first()
          .waitFor()
      }
      if (run === id) await page.goto(`${dashboard.origin}/runs/${id}?tab=logs`)
      await page.getByRole('list', { name: 'Lines' }).getByText('link and clear').waitFor()
      const lines = await page.getByRole('list', { name: 'Lines' }).textContent()
      expect(lines).toContain('plain <img src=x onerror=')
      expect(lines).toContain('red title')
      expect(lines).not.toMatch(/\u001b|javascript:|\u009b/)
      expect(await page.locator('.ansi.red').first().textContent()).toBe('red')
      await page.getByRole('button', { name: 'Jump to the first error' }).click()
      await page.locator('.first-error').getByText('error: the first one').waitFor()
      expect(
        await page.evaluate(() => [
          (window as unknown as { readonly obeyed?: number }).obeyed,
          document.querySelectorAll('main img, main script, main a[href^="javascript" i]').length,
        ]),
      ).toEqual([undefined, 0])
      await keepPicture(page, run === id ? 'run-logs' : 'run-failed-logs')
    }
    const page = await open(id, 'tab=artifacts')
    const row = page
      .getByRole('table', { name: 'Artifacts' })
      .getByRole('row')
      .filter({ hasText: 'onerror' })
    const waiting = page.waitForEvent('download')
    await row.getByRole('link', { name: 'Download' }).click()
    expect(readFileSync(await (await waiting).path(), 'utf8')).toContain('<script>')
    expect(await page.getByRole('link', { name: 'a link' }).count()).toBe(0)
    expect(
      await page.evaluate(() => (window as unknown as { readonly obeyed?: number }).obeyed),
    ).toBe(undefined)
  })
})
