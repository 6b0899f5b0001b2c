import { cpSync, mkdirSync, readdirSync, utimesSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { bin, build, run } from '../support/build.ts'
import { launch, makeFolder, sourceOf } from '../support/run-program.ts'
import type { Ended } from '../support/run-program.ts'
import '../support/without-coverage.ts'

const [before, after] = [makeFolder(), makeFolder()]
const hook = fileURLToPath(new URL('../setup/typescript-hook.mjs', import.meta.url))
let built: Ended

beforeAll(async () => {
  const [old, young] = await Promise.all([
    build('exports-tools.mjs', before, '--name', 'program'),
    build('other-tools.mjs', after, '--name', 'program'),
  ])
  expect([old.status, young.status]).toEqual([0, 0])
  built = young
}, 300_000)

/** A folder with the program as it was built first, long ago. */
function withTheOld(): string {
  const folder = makeFolder()
  cpSync(before, folder, { recursive: true })
  for (const name of readdirSync(join(folder, 'program.files')))
    utimesSync(join(folder, 'program.files', name), 1e9, 1e9)
  return folder
}

describe('a build', () => {
  test('killed before any of its writes leaves the old program or the new one [11.build-whole]', async () => {
    // As a build has listed them: the program first, which is written last.
    const files = (built.json.result.files as string[])
      .map((file) =>
        basename(file).startsWith('program')
          ? basename(file)
          : join('program.files', basename(file)),
      )
      .toReversed()
    const ends = await Promise.all(
      Array.from({ length: 22 }, async (_, index) => {
        const folder = withTheOld()
        const { status, stderr } = await launch(
          process.execPath,
          [
            '--import',
            hook,
            '--import',
            sourceOf('dies-at-a-write.mjs'),
            sourceOf('build/puts-files.ts'),
            after,
            folder,
            ...files,
          ],
          { env: { DIE_AT: String(index + 1), DIE_IN: folder } },
        ).ended
        const { json } = await run(join(folder, 'program'), ['{}'])
        return {
          status,
          stderr,
          said: json.result as string,
          bundles: readdirSync(join(folder, 'program.files')).filter((name) =>
            name.endsWith('.bundle'),
          ).length,
        }
      }),
    )
    const said = ends
      .map((end) => (end.said === 'hello' ? 'old' : end.said === 'hello again' ? 'new' : end.said))
      .join(' ')
    expect(said).toMatch(/^(old ){10,}(new ?)+$/)
    // The last ones were not killed: they were done before.
    expect(ends.at(-1)).toEqual({ status: 0, stderr: '', said: 'hello again', bundles: 1 })
  })

  test('that finds the disk full says so with exit status 73, and the old program goes on [11.build-disk-full]', async () => {
    const place = makeFolder()
    const script = `mount -t tmpfs -o size=2m none "${place}" && cp -r "${before}"/. "${place}" && ls -R "${place}" > "$TMPDIR/before"; "$@"; echo "$?"; ls -R "${place}" | diff "$TMPDIR/before" - && echo same; "${place}/program" '{}'`
    const { stdout, stderr } = await launch(
      'unshare',
      [
        '-Urm',
        '/bin/sh',
        '-c',
        script,
        'sh',
        process.execPath,
        bin,
        'build',
        sourceOf('build/other-tools.mjs'),
        '--out',
        place,
        '--name',
        'program',
      ],
      { longest: 300_000 },
    ).ended
    const [outcome, status, same, called] = stdout.split('\n') as [string, string, string, string]
    expect([stderr, JSON.parse(outcome)]).toEqual([
      expect.anything(),
      expect.objectContaining({
        ok: false,
        error: expect.objectContaining({
          code: 'DISK_FULL',
          message: expect.stringMatching(
            /no space is left for .*\.bundle; what was built before is as it was/,
          ),
        }),
      }),
    ])
    expect([status, same, JSON.parse(called).result]).toEqual(['73', 'same', 'hello'])
  })

  test('that has no room for its work says so too [11.build-disk-full]', async () => {
    const [place, out] = [makeFolder(), makeFolder()]
    const script = `mount -t tmpfs -o size=256k none "${place}" && "$@"; echo "$?"; ls -A "${place}" "${out}"`
    const { stdout } = await launch(
      'unshare',
      [
        '-Urm',
        '/bin/sh',
        '-c',
        script,
        'sh',
        process.execPath,
        bin,
        'build',
        sourceOf('build/other-tools.mjs'),
        '--out',
        out,
      ],
      { longest: 300_000, env: { TMPDIR: place } },
    ).ended
    const [outcome, status, ...left] = stdout.split('\n') as [string, string, ...string[]]
    expect(JSON.parse(outcome).error).toMatchObject({
      code: 'DISK_FULL',
      message: expect.stringContaining(relative('/', place)),
    })
    expect([status, left.filter((line) => line !== '' && !line.endsWith(':'))]).toEqual(['73', []])
  })

  test('that may not write says which file it is [11.build-refused]', async () => {
    const [place, out] = [makeFolder(), makeFolder()]
    mkdirSync(join(place, 'in'))
    const script = `mount --bind -o ro "${out}" "${join(place, 'in')}" && mount -o remount,bind,ro "${join(place, 'in')}" && "$@"; echo "$?"`
    const { stdout } = await launch(
      'unshare',
      [
        '-Urm',
        '/bin/sh',
        '-c',
        script,
        'sh',
        process.execPath,
        bin,
        'build',
        sourceOf('build/other-tools.mjs'),
        '--out',
        join(place, 'in'),
      ],
      { longest: 300_000 },
    ).ended
    const [outcome, status] = stdout.split('\n') as [string, string]
    expect([JSON.parse(outcome).error, status]).toMatchObject([
      { code: 'PERMISSION', message: expect.stringContaining('EROFS') },
      '77',
    ])
  })
})
