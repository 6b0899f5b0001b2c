import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toolable } from '../commands/support.ts'
import { makeProject } from '../views/http/support/project.ts'
import { openPage } from './support/browser.ts'
import { startDashboard } from './support/dashboard.ts'
import type { Dashboard } from './support/dashboard.ts'

const folder = makeProject()
let dashboard: Dashboard
let run: string
beforeAll(async () => {
  await toolable(['run', 'says-script'], { cwd: folder })
  dashboard = await startDashboard(folder)
  run = listRuns()[0]!
})

function listRuns(): string[] {
  return readdirSync(join(folder, '.runs')).filter((name) => name.startsWith('r-'))
}

describe('what a tool leaves [10.ui-untrusted]', () => {
  test('is saved by a browser that is sent there, and does not run', async () => {
    // A document without a page has no icon.
    const page = await openPage(dashboard, { expected: [/404/] })
    const saved = page.waitForEvent('download')
    await page.goto(`${dashboard.origin}/api/runs/${run}/artifacts/0`).catch(() => undefined)
    expect((await saved).url()).toContain('/artifacts/0')
    await page.goto(`${dashboard.origin}/api/runs/${run}/events`)
    expect(
      await page.evaluate(() => [
        document.contentType,
        document.querySelectorAll('img, script').length,
      ]),
    ).toEqual(['application/json', 0])
  })
})

describe('the page [10.ui-headers]', () => {
  test('runs no script and takes no style that somebody smuggles into it, and asks nobody else', async () => {
    const page = await openPage(dashboard, {
      expected: [/Content Security Policy/, /asked elsewhere/, /violates/],
    })
    const blocked = await page.evaluate(async () => {
      const found: string[] = []
      document.addEventListener('securitypolicyviolation', (event) =>
        found.push(event.effectiveDirective),
      )
      const script = document.createElement('script')
      script.textContent = 'window.smuggled = 1'
      const style = document.createElement('style')
      style.textContent = 'body { display: none }'
      const frame = document.createElement('iframe')
      frame.src = '/runs'
      const image = document.createElement('img')
      image.src = 'http://elsewhere.example/x.png'
      image.setAttribute('onerror', 'window.smuggled = 2')
      document.body.append(script, style, frame, image)
      await fetch('http://elsewhere.example/').catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, 300))
      return [[...new Set(found)].sort(), 'smuggled' in window]
    })
    expect(blocked).toEqual([
      [
        'connect-src',
        'frame-src',
        'img-src',
        'script-src-attr',
        'script-src-elem',
        'style-src-elem',
      ],
      false,
    ])
  })
})

describe('a page of somebody else on this machine, in a browser that is let in [10.ui-door]', () => {
  const other = createServer((_request, response) =>
    response.end('<!doctype html><title>other</title><body></body>'),
  )
  beforeAll(() => new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve)))
  afterAll(() => other.close())

  test('starts nothing and reads nothing', async () => {
    const page = await openPage(dashboard, { expected: [/./] })
    expect(await page.evaluate(async () => (await fetch('/api/about')).status)).toBe(200)
    const before = listRuns().length
    await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`)
    // The browser sends the cookie along: to it, all ports are one site.
    expect(await page.evaluate(tryEverything, dashboard.origin)).toEqual({
      read: 'failed',
      streamed: 'failed',
      posted: 'failed',
      json: 'failed',
      image: 'failed',
      script: 'failed',
    })
    await page.evaluate((origin) => {
      const form = Object.assign(document.createElement('form'), {
        method: 'POST',
        action: `${origin}/api/runs`,
        enctype: 'text/plain',
      })
      form.append(
        Object.assign(document.createElement('input'), {
          name: '{"tool":"greets","input":{}, "x":"',
          value: '"}',
        }),
      )
      document.body.append(form)
      form.submit()
    }, dashboard.origin)
    await page.waitForURL(`${dashboard.origin}/**`)
    expect(JSON.parse(await page.evaluate(() => document.body.innerText))).toMatchObject({
      ok: false,
      error: { code: 'PERMISSION' },
    })
    expect(listRuns().length).toBe(before)
    // A link is a link.
    await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`)
    await page.evaluate((origin) => void (location.href = `${origin}/runs`), dashboard.origin)
    await page.waitForURL(`${dashboard.origin}/runs`)
    await page.getByRole('navigation').first().waitFor()
  })
})

async function tryEverything(origin: string): Promise<{ readonly [what: string]: string }> {
  const body = JSON.stringify({ tool: 'greets', input: {} })
  const attempt = (work: Promise<string>): Promise<string> => work.catch(() => 'failed')
  const load = (element: HTMLImageElement | HTMLScriptElement, src: string): Promise<string> =>
    new Promise((resolve) => {
      element.onload = () => resolve('loaded')
      element.onerror = () => resolve('failed')
      element.src = src
      document.body.append(element)
    })
  const stream = new Promise<string>((resolve) => {
    const source = new EventSource(`${origin}/api/stream`, { withCredentials: true })
    source.onerror = () => {
      source.close()
      resolve('failed')
    }
    source.addEventListener('hello', () => resolve('read'))
  })
  return {
    read: await attempt(
      fetch(`${origin}/api/about`, { credentials: 'include' }).then(async (answer) =>
        answer.text(),
      ),
    ),
    streamed: await stream,
    posted: await attempt(
      fetch(`${origin}/api/runs`, {
        method: 'POST',
        mode: 'no-cors',
        credentials: 'include',
        body,
      }).then(({ type }) => type),
    ),
    json: await attempt(
      fetch(`${origin}/api/runs`, {
        method: 'POST',
        credentials: 'include',
        headers: { 'content-type': 'application/json' },
        body,
      }).then(async (answer) => answer.text()),
    ),
    image: await load(new Image(), `${origin}/assets/icon.svg`),
    script: await load(document.createElement('script'), `${origin}/api/about`),
  }
}
