// `node bench/growth.mjs [repetitions]`: how a cold start grows with the number of tools in the
// program.
import { fileURLToPath } from 'node:url'
import { formatTable, measureAll } from './measure.mjs'

const program = fileURLToPath(new URL('programs/many.mjs', import.meta.url))
const repetitions = Number(process.argv[2] ?? 20)
const counts = [1, 10, 50]
const actions = {
  '--help': () => ['--help'],
  '--discover': () => ['--discover'],
  call: (count) => [`greet_${count - 1}`, '{"name":"Ada"}'],
}

const cases = ['lazy', 'eager'].flatMap((schemas) =>
  counts.flatMap((count) =>
    Object.entries(actions).map(([action, argv]) => ({
      key: `${schemas} ${action} ${count}`,
      argv: [program, ...(count === 1 && action === 'call' ? ['{"name":"Ada"}'] : argv(count))],
      environment: { TOOLS: `${count}`, SCHEMAS: schemas },
      expect: action === 'call' ? 'Hello Ada' : `in way ${count - 1}`,
    })),
  ),
)
const results = await measureAll(cases, repetitions)
const rows = ['lazy', 'eager'].flatMap((schemas) =>
  Object.keys(actions).map((action) => {
    const list = counts.map((count) => results.get(`${schemas} ${action} ${count}`))
    return [
      `${schemas} schemas, ${action}`,
      ...list.map(({ median, minimum }) => `${median.toFixed(1)} (${minimum.toFixed(1)})`),
      (list.at(-1).median / list[0].median).toFixed(2),
    ]
  }),
)
console.log(
  `node ${process.versions.node}, ${repetitions} repetitions, interleaved; milliseconds, median (minimum)\n`,
)
console.log(
  formatTable([
    ['program', ...counts.map((count) => `${count} tools`), `${counts.at(-1)} to ${counts[0]}`],
    ...rows,
  ]),
)
