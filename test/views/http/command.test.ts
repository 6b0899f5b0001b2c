import { chmodSync, existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startToolable, toolable } from '../../commands/support.ts'
import { ROUTES } from '../../../src/views/server/routes.ts'
import { startDashboard } from '../../dashboard/support/dashboard.ts'
import { isAlive } from '../../support/processes.ts'
import { makeFolder } from '../../support/run-program.ts'
import { ask, cookieFor } from './support/ask.ts'
import { makeProject } from './support/project.ts'

describe('toolable ui [10.ui-command]', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'says its address as JSON to programs, nothing else, and ends with 0 by %s',
    async (signal) => {
      const folder = makeProject()
      const dashboard = await startDashboard(folder)
      expect((await dashboard.get('/api/about')).project).toBe(folder)
      dashboard.running.kill(signal)
      const { status, stdout, stderr } = await dashboard.running.ended
      expect([status, stdout, stderr]).toEqual([
        0,
        '',
        `{"type":"notification","kind":"listening","url":"http://127.0.0.1:${dashboard.port}/?token=${dashboard.token}"}\n`,
      ])
      await expect(fetch(dashboard.origin)).rejects.toThrow()
      expect(readdirSync(join(folder, '.runs')).sort()).toEqual(['.gitignore', '.ui-token'])
    },
  )

  test('says it in words to people', async () => {
    const running = startToolable(['ui', '--port', '0', '--output', 'text'], { cwd: makeProject() })
    await running.said('\n', 'stderr')
    running.kill('SIGINT')
    expect(await running.ended).toMatchObject({
      status: 0,
      stdout: '',
      stderr: expect.stringMatching(
        /^dashboard on http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}\n$/,
      ) as string,
    })
  })

  test('binds 127.0.0.1 and no other address, and has no flag for another one', async () => {
    const dashboard = await startDashboard(makeProject())
    const others = [
      '127.0.0.2',
      '::1',
      ...Object.values(networkInterfaces())
        .flatMap((all) => all ?? [])
        .filter(({ internal, family }) => !internal && family === 'IPv4')
        .map(({ address }) => address),
    ]
    for (const address of others)
      await expect(
        fetch(`http://${address.includes(':') ? `[${address}]` : address}:${dashboard.port}/`),
      ).rejects.toThrow()
    expect(await dashboard.stop()).toBe(0)
    const { status, json } = await toolable(['ui', '--host', '0.0.0.0', '--port', '0'])
    expect([status, json.error.code]).toEqual([2, 'USAGE'])
  })

  test('a port that is taken is told with one that is free [10.http-port-taken]', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as AddressInfo
    const { status, json } = await toolable(['ui', '--port', String(port)], { cwd: makeProject() })
    taken.close()
    expect([status, json.error.code, json.error.field]).toEqual([78, 'CONFIG', 'port'])
    expect(json.error.message).toContain(`127.0.0.1:${port}`)
    expect(json.error.suggestion.example).toMatch(/^--port \d+$/)
  })

  test('two of them show one project, under one token and with a cookie each', async () => {
    const folder = makeProject()
    const [one, two] = await Promise.all([startDashboard(folder), startDashboard(folder)])
    expect(two.token).toBe(one.token)
    await toolable(['run', 'greets'], { cwd: folder })
    for (const { get } of [one, two])
      await expect.poll(async () => (await get('/api/runs')).total as number).toBe(1)
    const cookie = await cookieFor(one.port, one.token)
    const value = cookie.slice(cookie.indexOf('=') + 1)
    expect((await ask(one.port, 'GET', '/api/about', { cookie })).status).toBe(200)
    for (const name of [cookie, `toolable_${two.port}=${value}`])
      expect((await ask(two.port, 'GET', '/api/about', { cookie: name })).status).toBe(401)
    expect(await Promise.all([one.stop(), two.stop()])).toEqual([0, 0])
  })

  test('refuses what it cannot use before it listens', async () => {
    for (const [args, code] of [
      [['--port', '70000'], 'INVALID_INPUT'],
      [['--config', 'nowhere.yaml'], 'CONFIG'],
      [['--token-file', 'nowhere'], 'INVALID_PATH'],
      [['extra'], 'USAGE'],
    ] as const) {
      const { json, status } = await toolable(['ui', '--port', '0', ...args], {
        cwd: makeProject(),
      })
      expect([args, json.error.code, status === 0]).toEqual([args, code, false])
    }
  })
})

describe('the token of a project [10.ui-token]', () => {
  test('is kept in a file of its owner, so that browsers stay let in after a restart', async () => {
    const folder = makeProject()
    const dashboard = await startDashboard(folder)
    const cookie = await cookieFor(dashboard.port, dashboard.token)
    const { token } = dashboard
    await dashboard.kill()
    await dashboard.again()
    expect(dashboard.token).toBe(token)
    expect((await ask(dashboard.port, 'GET', '/api/about', { cookie })).status).toBe(200)
    const file = join(folder, '.runs', '.ui-token')
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([`${token}\n`, 0o600])
    expect(await dashboard.stop()).toBe(0)
  })

  test('is asked for where none can be kept', async () => {
    const folder = makeProject()
    writeFileSync(join(folder, '.runs'), 'no folder')
    const { status, json } = await toolable(['ui', '--port', '0'], { cwd: folder })
    expect([status, json.error.code, json.error.field]).toEqual([78, 'CONFIG', 'token-file'])
  })

  test('is refused when others can read it', async () => {
    const folder = makeProject()
    await (await startDashboard(folder)).stop()
    chmodSync(join(folder, '.runs', '.ui-token'), 0o644)
    const { status, json } = await toolable(['ui', '--port', '0'], { cwd: folder })
    expect([status, json.error.code, json.error.suggestion.fix]).toEqual([
      77,
      'PERMISSION',
      expect.stringContaining('chmod 600'),
    ])
  })

  test('can be given by a file', async () => {
    const folder = makeProject()
    const file = join(makeFolder(), 'token')
    writeFileSync(file, 'my-own-token\n', { mode: 0o600 })
    const dashboard = await startDashboard(folder, ['--token-file', file])
    expect(dashboard.token).toBe('my-own-token')
    expect((await dashboard.get('/api/about')).read_only).toBe(false)
    expect(existsSync(join(folder, '.runs', '.ui-token'))).toBe(false)
    expect(await dashboard.stop()).toBe(0)
  })
})

describe('--open [10.ui-token]', () => {
  test('starts the browser of the system with an address that works once, and does not show the token', async () => {
    const [folder, programs] = [makeProject(), makeFolder()]
    const told = join(programs, 'told')
    writeFileSync(
      join(programs, 'xdg-open'),
      `#!/bin/sh\nprintf '%s\\n' "$@" > "${told}.new" && mv "${told}.new" "${told}"\n`,
      { mode: 0o755 },
    )
    const dashboard = await startDashboard(folder, ['--open'], {
      PATH: `${programs}:${process.env['PATH'] ?? ''}`,
    })
    await expect.poll(() => existsSync(told)).toBe(true)
    const address = new URL(readFileSync(told, 'utf8').trim())
    expect([address.origin, address.href.includes(dashboard.token)]).toEqual([
      dashboard.origin,
      false,
    ])
    const path = address.pathname + address.search
    const { status, headers } = await ask(dashboard.port, 'GET', path)
    expect([
      status,
      (await ask(dashboard.port, 'GET', '/', { cookie: headers['set-cookie']!.split(';')[0]! }))
        .status,
    ]).toEqual([303, 200])
    expect((await ask(dashboard.port, 'GET', path)).status).toBe(401)
    expect(await dashboard.stop()).toBe(0)
  })

  test('goes on where there is no browser, and says so', async () => {
    const folder = makeProject()
    const dashboard = await startDashboard(folder, ['--open'], { PATH: makeFolder() })
    await dashboard.running.said('no browser could be started', 'stderr')
    expect(isAlive(dashboard.running.pid)).toBe(true)
    expect(await dashboard.stop()).toBe(0)
  })
})

describe('--read-only [10.ui-read-only]', () => {
  test('refuses everything that would change something, shows everything, and has a token of its own', async () => {
    const folder = makeProject()
    await toolable(['run', 'says-script'], { cwd: folder })
    const [dashboard, whole] = await Promise.all([
      startDashboard(folder, ['--read-only']),
      startDashboard(folder),
    ])
    const run = readdirSync(join(folder, '.runs')).find((name) => name.startsWith('r-'))!
    expect((await dashboard.get('/api/about')).read_only).toBe(true)
    expect((await dashboard.get(`/api/runs/${run}`)).row.run_id).toBe(run)
    const before = readdirSync(join(folder, '.runs')).sort()
    const changes: readonly (readonly [string, unknown])[] = [
      ['runs', { tool: 'greets', input: {} }],
      ['runs', {}],
      [`runs/${run}/cancel`, {}],
      [`runs/${run}/resume`, {}],
      [`runs/${run}/retry`, {}],
      [`runs/${run}/answer`, { question: 'q', value: 1 }],
      ['tools/rescan', {}],
      ['doctor/clean', { days: 1 }],
    ]
    // A route that is added has to be tried here too.
    expect([...new Set(changes.map(([path]) => `/${path.replace(run, ':run')}`))].sort()).toEqual(
      ROUTES.filter(({ reads }) => !reads)
        .map(({ path }) => path)
        .sort(),
    )
    for (const [path, body] of changes) {
      const { status, body: text } = await ask(
        dashboard.port,
        'POST',
        `/api/${path}`,
        { authorization: `Bearer ${dashboard.token}` },
        JSON.stringify(body),
      )
      expect([path, status, JSON.parse(text).error.message]).toEqual([
        path,
        403,
        'this dashboard was started with --read-only',
      ])
    }
    expect(readdirSync(join(folder, '.runs')).sort()).toEqual(before)
    expect(
      (await dashboard.post('/api/tools/tools.greets/preview', { input: { name: 'Ada' } })).ok,
    ).toBe(true)
    expect((await dashboard.post(`/api/runs/${run}/artifacts/0/verify`)).state).toBe('same')
    expect(
      (await ask(whole.port, 'GET', '/api/about', { authorization: `Bearer ${dashboard.token}` }))
        .status,
    ).toBe(401)
    expect(await Promise.all([dashboard.stop(), whole.stop()])).toEqual([0, 0])
  })
})
