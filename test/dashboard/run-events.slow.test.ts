import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder } from '../support/run-program.ts'
import { makeLongRun } from '../views/support/make-runs.ts'
import { keepPicture, openPage } from './support/browser.ts'
import { startDashboard } from './support/dashboard.ts'

const folder = makeFolder()
const id = makeLongRun(join(folder, '.runs'), { events: 100_000 })
const dashboard = await startDashboard(folder)
const LONG = { interval: 50 }

describe('a run with a hundred thousand events', () => {
  test('scrolls to any place, draws only what is in sight, and opens a line [10.run-many-events]', async () => {
    const page = await openPage(dashboard, { path: `/runs/${id}?tab=events` })
    const events = page.getByRole('list', { name: 'Events' })
    await events.getByText('row 2 is written').waitFor()
    await page.getByText('100,000 events').waitFor()
    await events.evaluate((list) => void (list.scrollTop = list.scrollHeight / 2))
    await events.getByText('row 50001 is written').waitFor()
    await events.evaluate((list) => void (list.scrollTop = list.scrollHeight))
    await events.getByText('runner_end').waitFor()
    expect(await events.getByRole('listitem').count()).toBeLessThan(100)
    await events.getByRole('button').filter({ hasText: 'row 99991 is written' }).click()
    await page.getByRole('complementary', { name: 'Event 99991' }).getByText('seq: 99991').waitFor()
    expect(new URL(page.url()).searchParams.get('event')).toBe('99991')
    await keepPicture(page, 'run-events')
  })

  test('is filtered by type, level, step and text, and the address holds it [10.run-event-filters]', async () => {
    const page = await openPage(dashboard, { path: `/runs/${id}?tab=events` })
    const events = page.getByRole('list', { name: 'Events' })
    await page.getByRole('combobox', { name: 'Level' }).selectOption('warn')
    await page.getByText('99 of 100,000 events').waitFor()
    await events.getByText('row 1000 looks odd').waitFor()
    await page.getByRole('searchbox', { name: 'Text' }).fill('77000')
    await page.getByText('1 of 100,000 events').waitFor()
    await events.getByText('row 77000 looks odd').waitFor()
    expect(new URL(page.url()).search).toContain('text=77000')
    await page.reload()
    await page.getByText('1 of 100,000 events').waitFor()
    await page.getByRole('searchbox', { name: 'Text' }).fill('')
    await page.getByRole('combobox', { name: 'Level' }).selectOption('')
    // Thousands that fit: both ends and the middle.
    await page.getByRole('combobox', { name: 'Type' }).selectOption('progress')
    await page.getByText('900 of 100,000 events').waitFor()
    await events.evaluate((list) => void (list.scrollTop = list.scrollHeight))
    await events.getByText('99900 rows').waitFor()
    await events.evaluate((list) => void (list.scrollTop = list.scrollHeight / 2))
    await events.getByText('50000 rows').or(events.getByText('50100 rows')).first().waitFor()
    await page.getByRole('combobox', { name: 'Type' }).selectOption('log')
    await expect
      .poll(() => page.getByText(/^[\d,]+ of 100,000 events$/).textContent(), LONG)
      .not.toContain('900 of')
    await events.evaluate((list) => void (list.scrollTop = list.scrollHeight * 0.5))
    await events
      .getByText(/row 50\d\d\d is written/)
      .first()
      .waitFor()
    await events.evaluate((list) => void (list.scrollTop = list.scrollHeight))
    await events
      .getByText(/row 999\d\d is written/)
      .first()
      .waitFor()
    expect(await events.getByRole('listitem').count()).toBeLessThan(100)
  })
})
