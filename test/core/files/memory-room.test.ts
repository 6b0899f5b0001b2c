import { describe, expect, test } from 'vitest'
import { call, createState, memoryFiles } from 'toolable'
import type { Filesystem, MemoryFiles, Outcome } from 'toolable'
import { doing, gate } from '../state/support.ts'

const KIB = 1024
const ENTRY = 256

function on(
  files: MemoryFiles,
): (run: (files: Filesystem) => Promise<unknown>) => Promise<Outcome> {
  const state = createState({ filesystem: files })
  return async (run) =>
    call(
      doing(async ({ filesystem }) => void (await run(filesystem))),
      {},
      { state },
    )
}

const FULL = {
  ok: false,
  error: {
    code: 'DISK_FULL',
    message: expect.stringContaining('files in memory'),
    suggestion: { fix: expect.stringContaining('maxTotalBytes') },
  },
}

describe('files in memory have room for so much', () => {
  test('[8.files-memory-room] to the byte, whatever was written, appended, replaced, moved and removed before; a call beyond it leaves nothing', async () => {
    const files = memoryFiles({}, { maxTotalBytes: 10 * KIB })
    const act = on(files)
    // Two folders and three files, some of which come and go.
    expect(
      await act(async (all) => {
        await all.write('a/b/one', 'x'.repeat(4 * KIB))
        await all.write('a/b/one', 'x'.repeat(KIB))
        await all.append('a/b/one', 'x'.repeat(KIB))
        await all.write('gone/with/folder', 'x'.repeat(2 * KIB))
        await all.move('gone/with', 'a/with')
        await all.remove('gone')
        await all.remove('a/with', { recursive: true })
        await all.makeFolder('a/b')
      }),
    ).toMatchObject({ ok: true })
    const left = 10 * KIB - 2 * KIB - 3 * ENTRY
    expect(await act((all) => all.write('two', 'x'.repeat(left - ENTRY + 1)))).toMatchObject({
      ...FULL,
      error: { ...FULL.error, details: { limit: 10 * KIB, wanted: 10 * KIB + 1 } },
    })
    expect(
      await act(async (all) => {
        await all.write('two', 'x'.repeat(left - ENTRY))
        await all.append('two', '!')
      }),
    ).toMatchObject(FULL)
    expect(Object.keys(files.toJSON().files)).toEqual(['a/b/one'])
    expect(await act((all) => all.write('two', 'x'.repeat(left - ENTRY)))).toMatchObject({
      ok: true,
    })
    expect(await act((all) => all.makeFolder('c'))).toMatchObject(FULL)
    // What makes room may use it in the same call; and to read costs nothing.
    expect(
      await act(async (all) => {
        await all.remove('two')
        await all.write('three', 'x'.repeat(left - ENTRY))
      }),
    ).toMatchObject({ ok: true })
    expect(await act((all) => all.readText('three'))).toMatchObject({ ok: true })
  })

  test('[8.files-memory-room] a handler that goes on after the refusal has the room that it had', async () => {
    const files = memoryFiles({}, { maxTotalBytes: KIB })
    expect(
      await on(files)(async (all) => {
        await expect(all.write('big', 'x'.repeat(KIB))).rejects.toMatchObject({ code: 'DISK_FULL' })
        await all.write('small', 'x')
      }),
    ).toMatchObject({ ok: true })
    expect(files.toJSON().files).toEqual({ small: 'x' })
  })

  test('[8.files-memory-room] calls beside and inside each other have it together', async () => {
    const files = memoryFiles({}, { maxTotalBytes: 4 * KIB })
    const act = on(files)
    const both = gate()
    let arrived = 0
    const write = (name: string) =>
      act(async (all) => {
        await all.write(name, 'x'.repeat(2 * KIB))
        if (++arrived === 2) both.open()
        await both.passed
      })
    const outcomes = await Promise.all([write('a'), write('b')])
    expect(outcomes.filter(({ ok }) => ok).length).toBe(1)
    expect(outcomes.find(({ ok }) => !ok)).toMatchObject(FULL)
    const state = createState({ filesystem: files })
    const inner: Outcome[] = []
    await call(
      doing(async (ctx) => {
        await ctx.filesystem.write('c', 'x'.repeat(KIB))
        inner.push(
          await call(
            doing(({ filesystem }) => filesystem.write('d', 'x'.repeat(KIB))),
            {},
            { state },
          ),
        )
      }),
      {},
      { state },
    )
    expect(inner).toMatchObject([FULL])
    expect(Object.keys(files.toJSON().files).length).toBe(2)
  })

  test('[8.files-memory-room] many empty files have no room either, what is there at first counts, and a limit has to be one', async () => {
    expect(
      await on(memoryFiles({}, { maxTotalBytes: 100 * KIB }))(async (all) => {
        for (let index = 0; index < 401; index++) await all.write(`${index}`, '')
      }),
    ).toMatchObject(FULL)
    expect(
      await on(memoryFiles({ files: { a: 'x'.repeat(KIB) } }, { maxTotalBytes: KIB }))((all) =>
        all.list(),
      ),
    ).toMatchObject(FULL)
    for (const odd of [0, -1, 1.5, '5', null])
      expect(
        await on(memoryFiles({}, { maxTotalBytes: odd as number }))((all) => all.list()),
      ).toMatchObject({ ok: false, error: { code: 'CONFIG' } })
  })
})
