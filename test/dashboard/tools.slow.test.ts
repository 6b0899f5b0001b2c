import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { cleanEnvironment, launch, makeFolder } from '../support/run-program.ts'
import { keepPicture, openPage } from './support/browser.ts'
import { startDashboard } from './support/dashboard.ts'
import { makeToolProject } from './support/tool-project.ts'
import { TOOLABLE_PATH } from '../support/toolable-program.ts'

const project = makeToolProject()
const dashboard = await startDashboard(project.folder)
const toolPage = (tool: string, options: Parameters<typeof openPage>[1] = {}) =>
  openPage(dashboard, { path: `/tools/${tool}`, ...options })
const shown = (page: Page, name: string) =>
  page.getByRole('group', { name, exact: true }).locator('pre')
/** What a call looks like when the server has seen it. */
const callIs = (page: Page, input: object) =>
  expect
    .poll(async () => JSON.parse(await shown(page, 'JSON').innerText()))
    .toMatchObject({ input })
const countRuns = async (): Promise<number> => (await dashboard.get('/api/runs')).total

/** Runs a command line in a real shell in which `toolable` is the command. */
async function paste(command: string) {
  const programs = makeFolder()
  symlinkSync(process.execPath, join(programs, 'node'))
  symlinkSync(TOOLABLE_PATH, join(programs, 'toolable'))
  return launch('/bin/bash', ['-c', command], {
    cwd: project.folder,
    env: { PATH: `${programs}:${cleanEnvironment()['PATH']}` },
  }).ended
}

describe('tools', () => {
  test('the list says what each tool is, and shows what was refused or stands behind another, with the reason [10.tools-list]', async () => {
    const page = await openPage(dashboard, { path: '/tools' })
    const row = page
      .getByRole('table', { name: 'Tools' })
      .getByRole('row')
      .filter({ hasText: 'Say a text several times' })
    await row.waitFor()
    expect(await row.textContent()).toMatch(/repeat_text.*read-only.*house.*module.*ok/s)
    await page.getByRole('row').filter({ hasText: 'empty_bin' }).getByText('destructive').waitFor()
    const refused = page
      .getByRole('table', { name: 'Refused' })
      .getByRole('row')
      .filter({ hasText: 'half-a-tool.yaml' })
    expect(await refused.textContent()).toMatch(
      /refused.*manifest.*nothing that says how it is called.*Add command:/s,
    )
    const shadowed = page
      .getByRole('table', { name: 'Shadowed' })
      .getByRole('row')
      .filter({ hasText: 'others.repeat_text' })
    await shadowed.getByRole('link', { name: 'house.repeat_text' }).waitFor()
    await keepPicture(page, 'tools')
  })

  test('search and source stand in the address [10.tools-list]', async () => {
    const page = await openPage(dashboard, { path: '/tools' })
    const links = page
      .getByRole('table', { name: 'Tools' })
      .getByRole('link', { name: /^[a-z]+_[a-z]/ })
    await links.first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('throw away')
    await expect.poll(() => links.allTextContents()).toEqual(['empty_bin'])
    expect(page.url()).toContain('text=throw+away')
    await page.getByRole('searchbox', { name: 'Search tools' }).fill('')
    await page.getByRole('combobox', { name: 'Source' }).selectOption('folder')
    await page.getByText('No tool fits').waitFor()
    expect(page.url()).toContain('source=folder')
  })

  test('a rescan finds a tool that came later [10.tools-rescan]', async () => {
    const page = await openPage(dashboard, { path: '/tools' })
    await page.getByRole('row').filter({ hasText: 'empty_bin' }).waitFor()
    project.addScript('came_later')
    await page.getByRole('button', { name: 'Rescan' }).click()
    await page
      .getByRole('table', { name: 'Tools' })
      .getByRole('row')
      .filter({ hasText: 'came_later' })
      .waitFor()
  })
})

describe('a tool', () => {
  test('its four forms stand side by side, and in tabs where there is no room [10.tool-forms]', async () => {
    const page = await toolPage('house.repeat_text')
    await expect.poll(() => shown(page, 'Help').innerText()).toContain('--times <integer>')
    expect(JSON.parse(await shown(page, 'JSON Schema').innerText())).toMatchObject({
      required: ['text', 'mood'],
    })
    expect(JSON.parse(await shown(page, 'MCP definition').innerText())).toMatchObject({
      inputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
    })
    expect(await shown(page, 'Skill').innerText()).toContain('---\nname: ')
    await page.getByText('E_TOO_LOUD', { exact: true }).waitFor()
    const boxes = await Promise.all(
      ['Help', 'JSON Schema'].map((name) => shown(page, name).boundingBox()),
    )
    expect(boxes[0]!.y).toBe(boxes[1]!.y)
    await keepPicture(page, 'tool')
    const narrow = await toolPage('house.repeat_text', { width: 400, dark: true })
    await narrow.getByRole('tab', { name: 'Skill' }).click()
    await expect.poll(() => shown(narrow, 'Skill').innerText()).toContain('---\nname: ')
    expect(await shown(narrow, 'Help').count()).toBe(0)
    expect(
      await narrow.evaluate(() => document.documentElement.scrollWidth - innerWidth),
    ).toBeLessThanOrEqual(0)
    await keepPicture(narrow, 'tool-narrow')
  })

  test('the form, the JSON and the command line say the same; pasted into a shell, it gives the same result [10.tool-try-it]', async () => {
    const page = await toolPage('house.repeat_text')
    const form = page.getByRole('region', { name: 'Try it' })
    await form
      .getByRole('textbox', { name: 'text', exact: true })
      .fill('it\'s $HOME "quoted" `date`')
    await form.getByRole('radio', { name: 'loud' }).check()
    await form.getByRole('spinbutton', { name: 'times' }).fill('3')
    await form.getByRole('checkbox', { name: 'quoted' }).check()
    await form.getByRole('button', { name: 'Add to words' }).click()
    await page.keyboard.type('and')
    await form.getByRole('button', { name: 'Add to words' }).click()
    await form.getByRole('textbox', { name: 'mark' }).fill('!')
    await form.getByText('ready').waitFor()
    // What is not filled in is left out: the second word, and the count.
    await callIs(page, {
      text: 'it\'s $HOME "quoted" `date`',
      mood: 'loud',
      times: 3,
      quoted: true,
      words: ['and'],
      end: { mark: '!' },
    })
    const command = await shown(page, 'Command line').innerText()
    await keepPicture(page, 'tool-filled-in')
    await form.getByRole('button', { name: 'Start' }).click()
    await page.waitForURL('**/runs/r-*')
    const id = page.url().split('/').at(-1)!
    await expect
      .poll(async () => (await dashboard.get(`/api/runs/${id}`)).row.state)
      .toBe('completed')
    const { model, row } = await dashboard.get(`/api/runs/${id}`)
    expect(row.caller).toBe('dashboard')
    expect(model.result).toEqual({
      said: 'IT\'S $HOME "QUOTED" `DATE` and IT\'S $HOME "QUOTED" `DATE` and IT\'S $HOME "QUOTED" `DATE`!',
      quoted: true,
    })
    const pasted = await paste(command)
    expect(pasted.stderr).toBe('')
    expect(pasted.lines.find(({ type }) => type === 'result').result).toEqual(model.result)
  })

  test('what is wrong stands beside its field, and nothing is started [10.tool-problems]', async () => {
    const page = await toolPage('house.repeat_text')
    const form = page.getByRole('region', { name: 'Try it' })
    const times = form.getByRole('spinbutton', { name: 'times' })
    const before = await countRuns()
    // Nobody is told that a form is empty before they have begun.
    await form.getByText(/to fill in or mend: text, mood/).waitFor()
    expect((await form.getByRole('alert').allTextContents()).join('')).toBe('')
    await times.fill('9')
    await expect.poll(() => times.getAttribute('aria-invalid')).toBe('true')
    const told = await times.evaluate((field) =>
      field
        .getAttribute('aria-describedby')!
        .split(' ')
        .map((id) => document.getElementById(id)!.textContent)
        .join(' | '),
    )
    expect(told).toMatch(/How often\. 1 to 5\. Default: 2\. \| .*must be.*5/)
    await form.getByRole('button', { name: 'Add to words' }).click()
    await page.keyboard.type('much too long')
    await expect
      .poll(() => form.getByRole('textbox', { name: 'words 1' }).getAttribute('aria-invalid'))
      .toBe('true')
    await form.getByRole('button', { name: 'Start' }).click()
    await form.getByText('4 things have to be mended first').waitFor()
    expect(
      await form.getByRole('textbox', { name: 'text', exact: true }).getAttribute('aria-invalid'),
    ).toBe('true')
    await keepPicture(page, 'tool-problems')
    const map = form.getByRole('textbox', { name: 'map' })
    await map.fill('{"a": ')
    await form.getByText('something cannot be read yet').waitFor()
    expect(await map.getAttribute('aria-invalid')).toBe('true')
    await form.getByRole('button', { name: 'Start' }).click()
    await form.getByText('Something cannot be read yet', { exact: true }).waitFor()
    expect(await countRuns()).toBe(before)
  })

  test('an example fills the form, and the whole can be written as JSON [10.tool-try-it]', async () => {
    const page = await toolPage('house.repeat_text')
    const form = page.getByRole('region', { name: 'Try it' })
    await page.getByRole('button', { name: 'Use example 1' }).click()
    await callIs(page, { text: 'hello', mood: 'loud', words: ['and', 'then'] })
    expect(await form.getByRole('textbox', { name: 'words 2' }).inputValue()).toBe('then')
    await form.getByRole('button', { name: 'Remove words 1' }).click()
    await callIs(page, { words: ['then'] })
    await form.getByRole('button', { name: 'Edit as JSON' }).click()
    await form
      .getByRole('textbox', { name: 'Input as JSON' })
      .fill('{"text": "", "mood": "calm", "nonsense": 1}')
    await form
      .getByText(/nonsense/)
      .first()
      .waitFor()
    await form
      .getByRole('textbox', { name: 'Input as JSON' })
      .fill('{"text": "x", "mood": "calm", "times": 1}')
    await form.getByText('ready').waitFor()
    await form.getByRole('button', { name: 'Edit as JSON' }).click()
    expect(await form.getByRole('radio', { name: 'calm' }).isChecked()).toBe(true)
    expect(await form.getByRole('spinbutton', { name: 'times' }).inputValue()).toBe('1')
  })

  test('a secret is hidden where it is typed and where it would be shown [10.form-secrets]', async () => {
    const page = await toolPage('house.repeat_text')
    await page.getByRole('button', { name: 'Use example 1' }).click()
    await page.getByLabel('key', { exact: true }).fill("it's hush-hush")
    await expect.poll(() => shown(page, 'Command line').innerText()).toContain('••••••')
    await callIs(page, { key: '••••••' })
    expect(await page.getByLabel('key', { exact: true }).getAttribute('type')).toBe('password')
    expect(await page.locator('body').innerText()).not.toContain('hush')
  })

  test('a run that is started here moves before the eyes, and counts in the list [10.tool-try-it]', async () => {
    const page = await toolPage('house.wait_for_file')
    const file = join(project.folder, 'here-it-is')
    await page.getByRole('textbox', { name: 'file' }).fill(file)
    await page.getByText('ready').waitFor()
    await page.keyboard.press('Control+Enter')
    await page.waitForURL('**/runs/r-*')
    const id = page.url().split('/').at(-1)!
    const tool = await toolPage('house.wait_for_file')
    const row = tool
      .getByRole('table', { name: 'Recent runs' })
      .getByRole('row')
      .filter({ hasText: id })
    await row.getByText('running').waitFor()
    writeFileSync(file, '')
    await row.getByText('completed').waitFor()
    await page.getByText('completed').first().waitFor()
    const list = await openPage(dashboard, { path: '/tools' })
    await list
      .getByRole('link', { name: 'Runs of wait_for_file in the last week: 1 ok, 0 failed' })
      .waitFor()
  })

  test('what may destroy something is asked about first, and a dry run does nothing [10.tool-consent]', async () => {
    const page = await toolPage('house.empty_bin')
    const mark = join(project.folder, 'emptied')
    const form = page.getByRole('region', { name: 'Try it' })
    await form.getByRole('textbox', { name: 'mark' }).fill(mark)
    await form.getByText('ready').waitFor()
    const before = await countRuns()
    await form.getByRole('button', { name: 'Start' }).click()
    await form
      .getByRole('group', { name: /It may destroy something/ })
      .getByRole('button', { name: 'No' })
      .click()
    expect(await countRuns()).toBe(before)
    await form.getByRole('switch', { name: /Dry run/ }).check()
    expect(await shown(page, 'Command line').innerText()).toMatch(/ --dry-run$/)
    const planned = await paste(await shown(page, 'Command line').innerText())
    expect(planned.status).toBe(0)
    await form.getByRole('button', { name: 'Start dry run' }).click()
    await page.waitForURL('**/runs/r-*')
    await expect
      .poll(
        async () => (await dashboard.get(`/api/runs/${page.url().split('/').at(-1)}`)).row.state,
      )
      .toBe('completed')
    expect(existsSync(mark)).toBe(false)
    await page.goBack()
    await form.getByRole('textbox', { name: 'mark' }).fill(mark)
    await form.getByText('ready').waitFor()
    await form.getByRole('button', { name: 'Start' }).click()
    await form
      .getByRole('group', { name: /It may destroy something/ })
      .getByRole('button', { name: 'Start' })
      .click()
    await expect.poll(() => existsSync(mark)).toBe(true)
  })

  test('a page that is for reading only starts nothing, and still shows what would be the same [10.tool-try-it]', async () => {
    const reading = await startDashboard(project.folder, ['--read-only'])
    const page = await openPage(reading, { path: '/tools/house.repeat_text' })
    await page.getByRole('button', { name: 'Use example 1' }).click()
    await expect
      .poll(() => shown(page, 'Command line').innerText())
      .toContain('toolable run repeat_text')
    expect(await page.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true)
    await page.close()
    expect(await reading.stop()).toBe(0)
  })
})
