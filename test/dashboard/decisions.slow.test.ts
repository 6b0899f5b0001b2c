import { describe, expect, test } from 'vitest'
import { keepPicture, openPage } from './support/browser.ts'
import { startDashboard } from './support/dashboard.ts'
import { makeToldProject, question, startTold } from './support/told-run.ts'

const project = makeToldProject()
const dashboard = await startDashboard(project.folder)
const done = { type: 'result', status: 'ok' }

describe('decisions', () => {
  test('with nothing to decide the page says so [10.decisions-answer]', async () => {
    const page = await openPage(dashboard, { path: '/decisions' })
    await page.getByText('Nobody asks anything').waitFor()
  })

  test('yes and no, with a note, and who answered stands below [10.decisions-answer]', async () => {
    const page = await openPage(dashboard, { path: '/decisions' })
    const run = await startTold(
      project,
      dashboard,
      question({ prompt: 'Delete 312 files?', timeout: 600 }, 'confirm'),
    )
    const card = page.getByRole('article', { name: 'Delete 312 files?' })
    await card.getByText(/fails in \d/).waitFor()
    await card.getByRole('textbox', { name: 'Note (optional)' }).fill('looked at the list')
    await card.getByRole('button', { name: 'No' }).click()
    await run.hears('was told false')
    const row = page
      .getByRole('table', { name: 'Answered' })
      .getByRole('row')
      .filter({ hasText: 'Delete 312 files?' })
    await row.waitFor()
    expect(await row.getByRole('cell').allTextContents()).toEqual([
      expect.stringMatching(/now|ago/),
      'Delete 312 files?',
      'no',
      expect.stringContaining('dashboard'),
      'looked at the list',
      expect.stringContaining('says_what_it_is_told'),
      run.id,
    ])
    await card.waitFor({ state: 'detached' })
    run.say(done)
    await run.ends('completed')
  })

  test('a form is made of the schema, and an answer that does not fit is refused with its reason [10.decisions-answer]', async () => {
    const page = await openPage(dashboard, { path: '/decisions', expected: [/status of 400/] })
    const schema = {
      type: 'object',
      required: ['city'],
      properties: {
        city: { type: 'string', minLength: 2 },
        days: { type: 'integer', minimum: 1, maximum: 14 },
      },
    }
    const run = await startTold(project, dashboard, question({ prompt: 'Which city?', schema }))
    const card = page.getByRole('article', { name: 'Which city?' })
    await card.getByRole('textbox', { name: 'city' }).fill('P')
    await keepPicture(page, 'decisions-form')
    await card.getByRole('button', { name: 'Send the answer' }).click()
    await card.getByRole('alert').waitFor()
    expect(await card.getByRole('alert').textContent()).toContain('city')
    await card.getByRole('textbox', { name: 'city' }).fill('Paris')
    await card.getByRole('spinbutton', { name: 'days' }).fill('3')
    await card.getByRole('button', { name: 'Send the answer' }).click()
    await run.hears('was told {\\"city\\": \\"Paris\\", \\"days\\": 3}')
    await page
      .getByRole('table', { name: 'Answered' })
      .getByText('{"city":"Paris","days":3}')
      .waitFor()
    run.say(done)
    await run.ends('completed')
  })

  test('a question without a schema takes a text; the keyboard is enough [10.decisions-answer]', async () => {
    const page = await openPage(dashboard, { path: '/decisions', width: 400, height: 800 })
    const run = await startTold(project, dashboard, question({ prompt: 'What is it called?' }))
    await page.getByRole('article', { name: 'What is it called?' }).waitFor()
    await page.keyboard.press('j')
    // Past the tool and the run that ask.
    for (const _link of ['tool', 'run', 'answer']) await page.keyboard.press('Tab')
    await page.keyboard.type('the wood')
    await keepPicture(page, 'decisions-narrow')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await run.hears('was told \\"the wood\\"')
    run.say(done)
    await run.ends('completed')
  })

  test('who comes too late is told who was faster [10.decisions-faster]', async () => {
    const [page, other] = [
      await openPage(dashboard, { path: '/decisions' }),
      await openPage(dashboard, { path: '/decisions' }),
    ]
    const run = await startTold(project, dashboard, question({ prompt: 'Who is there?' }))
    const card = page.getByRole('article', { name: 'Who is there?' })
    await card.getByRole('textbox', { name: 'Answer' }).fill('me')
    const faster = other.getByRole('article', { name: 'Who is there?' })
    await faster.getByRole('textbox', { name: 'Answer' }).fill('an owl')
    await faster.getByRole('button', { name: 'Send the answer' }).click()
    await run.hears('was told \\"an owl\\"')
    const told = page.getByRole('status').filter({ hasText: 'Somebody was faster.' })
    await told.getByText(/was answered with an owl by .*dashboard/).waitFor()
    await keepPicture(page, 'decisions-faster')
    await told.getByRole('button', { name: 'All right' }).click()
    await told.waitFor({ state: 'detached' })
    expect(await other.getByText('Somebody was faster.').count()).toBe(0)
    run.say(done)
    await run.ends('completed')
  })
})

describe('for reading only', () => {
  test('nothing can be answered or cancelled, and the page says so [10.dashboard-read-only]', async () => {
    const readOnly = await startDashboard(project.folder, ['--read-only'])
    const run = await startTold(project, dashboard, question({ prompt: 'May I?' }, 'confirm'))
    const page = await openPage(readOnly, { expected: [/ERR_/] })
    await page.getByText('read-only', { exact: true }).waitFor()
    const card = page.getByRole('article', { name: 'May I?' })
    await card.waitFor()
    expect(await card.getByRole('button', { name: 'Yes' }).isDisabled()).toBe(true)
    expect(await card.textContent()).toContain(`toolable answer ${run.id}`)
    await card.getByRole('link', { name: run.id }).click()
    expect(await page.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true)
    expect((await project.toolable(['answer', run.id, 'true'])).status).toBe(0)
    await card.waitFor({ state: 'detached' })
    run.say(done)
    await run.ends('completed')
    await readOnly.stop()
  })
})
