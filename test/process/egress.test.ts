import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ChildEnd, ChildOptions, ToolProfile } from '../../src/process/child.ts'
import type { EgressGrant } from '../../src/process/grants.ts'
import { runChild } from '../../src/process/run.ts'
import { findForbiddenReason, pinAddresses } from '../../src/sandbox/egress-addresses.ts'
import { assignAddresses } from '../../src/sandbox/egress.ts'
import { descendsFrom, listNaming, untilGone } from '../support/processes.ts'
import { attacker, folder, inSandbox, profileOf, said, tell } from './attacks/support.ts'
import { HANG_MS } from '../support/limits.ts'

const fixtures = fileURLToPath(new URL('../fixtures/egress/', import.meta.url))
const certificate = join(folder, 'certificate.pem')
const socketPath = join(folder, 'socket')
// A name that exists nowhere. Manifests cannot say that it is a server of this machine; a grant of
// a test can.
const HOST = 'shop.test'

const servers: Server[] = []
const seen: string[] = []
const ports = { http: 0, tls: 0, other: 0, raw: 0, udp: 0 }
const datagrams = createSocket('udp4', (_message, { port, address }) =>
  datagrams.send('hello', port, address),
)
let onRaw: (socket: Socket) => void = () => {}

type Connection = Parameters<NonNullable<ToolProfile['onConnection']>>[0]
type Run = { readonly end: ChildEnd; readonly connections: readonly Connection[] }

async function run(
  command: ChildOptions['command'],
  granted: readonly number[],
  options: Partial<ChildOptions> = {},
  host = HOST,
): Promise<Run> {
  const connections: Connection[] = []
  const network = granted.map((port): EgressGrant => ({ host, port, local: true }))
  const profile = profileOf(
    { network },
    {
      readable: [
        fixtures,
        fileURLToPath(new URL('../fixtures/attacks/', import.meta.url)),
        certificate,
      ],
      onConnection: (one) => void connections.push(one),
    },
  )
  return { end: await runChild({ ...inSandbox(profile), command, ...options }), connections }
}
const moves = (way: string, ...more: number[]): [string, ...string[]] => [
  '/usr/bin/python3',
  '-I',
  join(fixtures, 'moves-much.py'),
  way,
  HOST,
  String(ports.raw),
  ...more.map(String),
]

async function listen(server: Server, where: number | string = 0): Promise<number> {
  servers.push(server)
  await new Promise<void>((resolve) =>
    typeof where === 'string'
      ? server.listen(where, resolve)
      : server.listen(where, '127.0.0.1', resolve),
  )
  return typeof where === 'string' ? 0 : (server.address() as AddressInfo).port
}

beforeAll(async () => {
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      join(folder, 'key.pem'),
      '-out',
      certificate,
      '-subj',
      `/CN=${HOST}`,
      '-addext',
      `subjectAltName=DNS:${HOST}`,
    ],
    { stdio: 'ignore' },
  )
  ports.http = await listen(
    createHttp(({ headers }, answer) => answer.end(`hello ${headers.host}`)),
  )
  const tls = createHttps(
    { key: readFileSync(join(folder, 'key.pem')), cert: readFileSync(certificate) },
    (_request, answer) => answer.end('secret hello'),
  )
  tls.on('secureConnection', ({ servername }: { servername?: string }) =>
    seen.push(servername ?? ''),
  )
  ports.tls = await listen(tls)
  ports.other = await listen(createHttp((_request, answer) => answer.end('other')))
  ports.raw = await listen(
    createServer({ allowHalfOpen: true }, (socket) => onRaw(socket.on('error', () => {}))),
  )
  await listen(
    createServer((socket) => socket.on('error', () => {}).end('path')),
    socketPath,
  )
  await listen(
    createServer((socket) => socket.on('error', () => {}).end('abstract')),
    `\0${socketPath}`,
  )
  await new Promise<void>((resolve) => datagrams.bind(0, '127.0.0.1', resolve))
  ports.udp = datagrams.address().port
})

afterAll(() => {
  for (const server of servers) server.close()
  datagrams.close()
})

describe('a tool that may talk to one server', () => {
  test('[7.egress-exact] talks to it by curl, by fetch of Node and by Python, with TLS to the server itself and no proxy', async () => {
    const url = `https://${HOST}:${ports.tls}/`
    const ways = {
      curl: await run(['/usr/bin/curl', '-sS', '--cacert', certificate, url], [ports.tls]),
      fetch: await run(
        [process.execPath, join(fixtures, 'fetches.mjs'), `http://${HOST}:${ports.http}/`],
        [ports.http],
      ),
      'own name': await run(
        ['/usr/bin/curl', '-sS', `http://mine.localhost:${ports.http}/`],
        [ports.http],
        {},
        'mine.localhost',
      ),
      python: await run(
        [
          '/usr/bin/python3',
          '-I',
          join(fixtures, 'talks-tls.py'),
          HOST,
          String(ports.tls),
          certificate,
        ],
        [ports.tls],
      ),
    }
    const answers = Object.fromEntries(
      Object.entries(ways).map(([name, { end }]) => [
        name,
        end.stdout.toString().trim() || end.stderr.toString() || end.problem,
      ]),
    )
    expect(answers).toEqual({
      curl: 'secret hello',
      fetch: `["hello ${HOST}:${ports.http}"]`,
      'own name': `hello mine.localhost:${ports.http}`,
      python: 'secret hello',
    })
    expect(seen).toEqual([HOST, HOST])
    expect(ways.curl.connections).toEqual([{ host: HOST, port: ports.tls, address: '127.0.0.1' }])
  })

  test('[7.egress-exact] talks to it where only its starter gets at the workspace, and beside others', async () => {
    const closed = mkdtempSync('/var/tmp/toolable-egress-')
    mkdirSync(join(closed, 'work'))
    const profile: ToolProfile = {
      ...profileOf({ network: [{ host: HOST, port: ports.http, local: true }] }),
      workspace: join(closed, 'work'),
    }
    const ends = await Promise.all(
      [profile, ...Array.from({ length: 4 }, () => profileOf(profile.grants))].map((each) =>
        runChild({
          ...inSandbox(each),
          command: ['/usr/bin/curl', '-sS', `http://${HOST}:${ports.http}/`],
        }),
      ),
    )
    rmSync(closed, { recursive: true })
    expect(
      ends.map(({ stdout, stderr, problem }) => stdout.toString() || stderr.toString() || problem),
    ).toEqual(ends.map(() => `hello ${HOST}:${ports.http}`))
  })

  test('[7.egress-exact] [7.attacks-control] reaches nothing else in any other way', async () => {
    const nameserver =
      /^nameserver\s+([\d.]+)$/m.exec(readFileSync('/etc/resolv.conf', 'utf8'))?.[1] ?? '127.0.0.53'
    const machine =
      Object.values(networkInterfaces())
        .flatMap((each) => each ?? [])
        .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.2'
    const given = {
      host: HOST,
      otherHost: 'other.test',
      port: ports.http,
      otherPort: ports.other,
      udpPort: ports.udp,
      machine,
      nameserver,
      socket: socketPath,
      metadata: ['169.254.169.254', 80],
    }
    const { end, connections } = await run(attacker('reaches-out.py', JSON.stringify(given)), [
      ports.http,
    ])
    const { worked, refused } = said(end) as { worked: string[]; refused: Record<string, string> }
    expect(worked).toEqual([])
    expect(refused).toMatchObject({
      'other port': 'ECONNREFUSED',
      'other host': 'gaierror',
      'raw address': 'ECONNREFUSED',
      'address of the machine': 'ENETUNREACH',
      dns: 'ENETUNREACH',
      'path socket': 'ENOENT',
      'abstract socket': 'ECONNREFUSED',
      vsock: 'EAFNOSUPPORT',
      metadata: 'ENETUNREACH',
    })
    expect(connections).toEqual([])
    const control = await runChild({
      cwd: folder,
      env: { PATH: '/usr/bin:/bin' },
      timeout: HANG_MS,
      command: attacker(
        'reaches-out.py',
        JSON.stringify({
          ...given,
          host: '127.0.0.1',
          otherHost: 'localhost',
          machine: '127.0.0.1',
          metadata: ['127.0.0.1', ports.http],
        }),
      ),
    })
    const { worked: without } = said(control) as { worked: string[] }
    // Whether there are name servers, IPv6 and virtual sockets depends on the machine.
    expect(without).toEqual(
      expect.arrayContaining([
        'other port',
        'other host',
        'raw address',
        'udp',
        'abstract socket',
        'path socket',
      ]),
    )
    tell(
      `control: egress ${without.length}/${Object.keys(refused).length} where nothing is in the way`,
    )
    tell(`egress 4/4 allowed, ${worked.length}/${Object.keys(refused).length} others`)
  })

  test('[7.egress-refused] hears that its server refuses or resets, and the log says so', async () => {
    const low = await run(
      ['/usr/bin/python3', '-I', join(fixtures, 'moves-much.py'), 'is_refused', HOST, '9'],
      [9],
    )
    expect(said(low.end)).toEqual({ error: 'ConnectionResetError' })
    expect(low.connections).toEqual([
      { host: HOST, port: 9, refused: expect.stringContaining('ECONNREFUSED') as string },
    ])
    onRaw = (socket) => void socket.resetAndDestroy()
    expect(said((await run(moves('is_refused'), [ports.raw])).end)).toEqual({
      error: 'ConnectionResetError',
    })
  })

  test('[7.egress-relay] its reset reaches the server', async () => {
    const ended = new Promise((resolve) => {
      onRaw = (socket) => void socket.on('error', resolve).pipe(socket)
    })
    await run(moves('resets'), [ports.raw])
    expect(await ended).toMatchObject({ code: 'ECONNRESET' })
  })

  test('[7.egress-relay] sends much and gets it back after it closed its half, on one connection and on many', async () => {
    onRaw = (socket) => void socket.pipe(socket)
    const { end } = await run(moves('sends_and_gets_back', 64), [ports.raw])
    const { bytes, same, seconds } = said(end) as { bytes: number; same: boolean; seconds: number }
    expect({ bytes, same }).toEqual({ bytes: 64 << 20, same: true })
    expect(said((await run(moves('opens_many', 200), [ports.raw])).end)).toEqual({ answers: 200 })
    tell(`relay ${Math.round(128 / seconds)} MB/s, both ways together`)
  })

  test('[7.egress-relay] cannot take all descriptors of its runner', async () => {
    onRaw = (socket) => void socket.pipe(socket)
    const { end, connections } = await run(moves('opens_too_many', 520), [ports.raw])
    expect(said(end)).toEqual({ lost: 8 })
    expect(connections.filter(({ refused }) => refused !== undefined)).toHaveLength(8)
  })

  test('[7.egress-relay] does not read, and its server is held back instead of our memory filled', async () => {
    const block = Buffer.alloc(1 << 16)
    let sender: Socket | undefined
    onRaw = (socket) => {
      sender = socket
      socket.write('x')
      const more = (): void => {
        while (socket.writable && socket.write(block));
      }
      socket.on('drain', more).once('data', more)
    }
    await run(moves('never_reads'), [ports.raw])
    expect(sender!.bytesWritten).toBeGreaterThan(1 << 16)
    expect(sender!.bytesWritten - sender!.writableLength).toBeLessThan(64 << 20)
  })

  test('[7.egress-relay] sends its last words and is gone, and they arrive', async () => {
    let bytes = 0
    const ended = new Promise((resolve) => {
      onRaw = (socket) =>
        void socket
          .on('data', (chunk) => {
            bytes += chunk.length
          })
          .on('end', () => resolve(socket.end()))
    })
    await run(moves('sends_and_leaves', 4), [ports.raw])
    await ended
    expect(bytes).toBe(4 << 20)
  })

  test('[7.egress-leaves-nothing] is ended in the middle, and no process, listener, connection or file is left', async () => {
    const closed = new Promise((resolve) => {
      onRaw = (socket) => void socket.on('close', resolve).pipe(socket)
    })
    const handles = (): string[] =>
      process
        .getActiveResourcesInfo()
        .filter((name) => name.startsWith('TCP'))
        .sort()
    // Other tests make connections at the same time: only the processes and files of this one
    // count.
    const own = mkdtempSync(join(tmpdir(), 'toolable-own-'))
    vi.stubEnv('TMPDIR', own)
    onTestFinished(() => {
      vi.unstubAllEnvs()
      rmSync(own, { recursive: true })
    })
    await expect.poll(handles).not.toContain('TCPSocketWrap')
    const before = handles()
    const controller = new AbortController()
    const helpers: number[] = []
    const { end } = await run(moves('stays'), [ports.raw], {
      signal: controller.signal,
      onLine: () => {
        helpers.push(...listNaming('127.77.0.1').filter((pid) => descendsFrom(pid, process.pid)))
        controller.abort()
      },
    })
    expect(end.reason).toBe('cancelled')
    await untilGone(helpers)
    await closed
    await expect.poll(handles).toEqual(before)
    expect(readdirSync(own)).toEqual([])
  })
})

describe('the addresses of a server', () => {
  const answers =
    (...addresses: string[]) =>
    () =>
      Promise.resolve(
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )

  test('[7.egress-addresses] are refused where a granted name leads to this machine, a link or the secrets of a cloud', async () => {
    const bad = [
      '127.0.0.1',
      '127.8.8.8',
      '0.0.0.0',
      '169.254.169.254',
      '169.254.1.1',
      '100.100.100.200',
      '224.0.0.1',
      '255.255.255.255',
      '::1',
      '::',
      'fe80::1',
      'fe80::1%eth0',
      'ff02::1',
      '::ffff:127.0.0.1',
      '::ffff:a9fe:a9fe',
      '64:ff9b::7f00:1',
      '::127.0.0.1',
      'fd00:ec2::254',
      'nonsense',
    ]
    expect(bad.filter((address) => findForbiddenReason(address) === undefined)).toEqual([])
    const own = Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .map(({ address }) => address)
    expect(own.filter((address) => findForbiddenReason(address) === undefined)).toEqual([])
    expect(
      ['93.184.216.34', '10.1.2.3', '2606:2800:220:1::1', '64:ff9b::5db8:d822'].filter(
        (address) => findForbiddenReason(address) !== undefined,
      ),
    ).toEqual([])
    await expect(
      pinAddresses({ host: 'evil.example.com', port: 80 }, answers('169.254.169.254'))(),
    ).rejects.toThrow(
      'evil.example.com leads to 169.254.169.254, which tells secrets of the machine',
    )
  })

  test('[7.egress-addresses] are asked for once, and stay what they were when they were judged', async () => {
    let asked = 0
    const find = pinAddresses({ host: 'api.example.com', port: 443 }, () =>
      answers((asked += 1) === 1 ? '93.184.216.34' : '127.0.0.1')(),
    )
    expect(await Promise.all([find(), find()])).toEqual([
      [{ address: '93.184.216.34', family: 4 }],
      [{ address: '93.184.216.34', family: 4 }],
    ])
    expect(await find()).toEqual([{ address: '93.184.216.34', family: 4 }])
    const mixed = pinAddresses(
      { host: 'api.example.com', port: 443 },
      answers('127.0.0.1', '93.184.216.34'),
    )
    expect(await mixed()).toEqual([{ address: '93.184.216.34', family: 4 }])
    const local = pinAddresses({ host: 'db.localhost', port: 5432, local: true }, () =>
      Promise.reject(new Error('asked')),
    )
    expect(await local()).toEqual([
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ])
  })

  test('[7.egress-exact] inside stand for names, one address for each name', () => {
    const { servers: inner, hosts } = assignAddresses([
      { host: 'a.example', port: 443 },
      { host: 'b.example', port: 443 },
      { host: 'a.example', port: 80 },
      { host: 'a.example', port: 443 },
      { host: 'localhost', port: 5432, local: true },
      { host: 'db.localhost', port: 5432, local: true },
    ])
    expect(inner.map(({ host, port, address }) => `${host}:${port} ${address}`)).toEqual([
      'a.example:443 127.77.0.1',
      'b.example:443 127.77.0.2',
      'a.example:80 127.77.0.1',
      'db.localhost:5432 127.0.0.1',
    ])
    expect(hosts).toBe(
      '127.0.0.1 localhost\n127.0.0.1 db.localhost\n127.77.0.1 a.example\n127.77.0.2 b.example\n',
    )
  })
})
