// Finishes so many workflows in a folder, and tells how long a list of them takes beside reading
// and parsing the lines of the index: `<folder> <workflows> <rounds>`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { embedded } from './embedded.mjs'

const [folder, count, rounds] = process.argv.slice(2)
const filling = await embedded(folder)
let left = Number(count)
await Promise.all(
  Array.from({ length: 50 }, async () => {
    while (left > 0) {
      left -= 1
      await filling.execute(left)
    }
  }),
)
await filling.close()

const { host, close } = await embedded(folder)
const times = { list: [], read: [] }
const ways = {
  async list() {
    const found = await host.list()
    if (found.length !== Number(count) || found.some(({ state }) => state !== 'completed'))
      throw new Error(`the list has ${found.length}`)
  },
  read() {
    const lines = readFileSync(join(folder, '.runs', 'workflows', 'index.jsonl'), 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
    if (lines.length < 2 * Number(count)) throw new Error(`the index has ${lines.length} lines`)
  },
}
for (let round = -3; round < Number(rounds); round += 1) {
  for (const [name, run] of Object.entries(ways)) {
    const begin = process.hrtime.bigint()
    await run()
    if (round >= 0) times[name].push(Number(process.hrtime.bigint() - begin) / 1e6)
  }
}
await close()
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)]
console.log(JSON.stringify({ list: median(times.list), read: median(times.read) }))
