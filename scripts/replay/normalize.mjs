// Replaces what differs between two runs of the same request: times, durations, ids, processes,
// ports, temporary folders, the version of Node and the checkout. Everything else is compared
// byte by byte.
import { dirname } from 'node:path'

const HEX = '[0-9a-f]'
// Ids are numbered in the order in which a flow shows them, so that two names for one id differ.
const IDS = [
  ['run', new RegExp(`\\br-${HEX}{10}\\b`, 'g')],
  ['uuid', new RegExp(`\\b${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}\\b`, 'g')],
  ['trace', new RegExp(`\\b${HEX}{32}\\b`, 'g')],
]

// Fields whose values are drawn by chance or signed.
const FIELDS = [
  ['state', /"requestState": ?"([^"]+)"/g],
  ['question', new RegExp(`"id": ?"(${HEX}{8})"`, 'g')],
  ['session', new RegExp(`"id": "(${HEX}{16})"`, 'g')],
  ['epoch', /"epoch": ?"([^"]+)"/g],
  ['task', /"taskId": ?"([^"]+)"/g],
  ['span', new RegExp(`"spanId": ?"(${HEX}{16})"`, 'g')],
  ['span', new RegExp(`\\b00-${HEX}{32}-(${HEX}{16})-0\\d\\b`, 'g')],
]

const PATTERNS = [
  // Folders in the temporary folder have names drawn by chance.
  [/(<tmp>\/[\w.-]*?-)[A-Za-z0-9]{6}\b/g, '$1<random>'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  [/^\d\d:\d\d:\d\d(?= )/gm, '<clock>'],
  [
    /("?\b(?:duration_ms|duration_s|elapsed_ms|elapsed_s|p50_s|p95_s)"?: ?)[\d.]+(e-?\d+)?/g,
    '$1<n>',
  ],
  // A checksum of the path of the installed program.
  [/(TOOLABLE_INSTALLED\W+[\w-]+ )[0-9a-f]{16}/g, '$1<checksum>'],
  // Durations where people read them: ends of runs, steps, and the table of runs.
  [/^(<clock> {2}(?:completed|failed|cancelled)\b.*?)[\d.]+ (?:ms|s|min)(?=$| )/gm, '$1<duration>'],
  [/(<time> \()[\d.]+ (?:ms|s|min)\)/g, '$1<duration>)'],
  [/([✓✗?] .*?after )[\d.]+ (?:ms|s|min)/g, '$1<duration>'],
  [/(\(\w+, )[\d.]+ (?:ms|s|min)(?=[,)])/g, '$1<duration>'],
  [/^(<run-\d+>.*? )(?:now|\d+ \w+ ago) +[\d.]+ (?:ms|s|min)/gm, '$1<age> <duration>'],
  [/\bstarted +duration\b/g, 'started duration'],
  [/("\w*[tT]imeUnixNano": ?)"\d+"/g, '$1"<time>"'],
  // Times in milliseconds, and the place in a list that begins with one.
  [/\b1[5-9]\d{11}\b/g, '<time>'],
  [/("next":")[0-9a-z]{8}(?=\.<run)/g, '$1<time>'],
  [/("ttlMs": ?)\d{4,}/g, '$1<n>'],
  [/("(?:pid|ppid|supervisor|process)": ?)\d+/g, '$1<pid>'],
  [/\b(process|pid) \d+\b/g, '$1 <pid>'],
  // Stack traces and files of the build change with every rename.
  [/^( *)at (?:.*\(.*\)|(?:file:|node:|async |\/|<).*)(?:\n *at .*)*/gm, '$1at <stack>'],
  [/"stack":\[[^\]]*\]/g, '"stack":["<stack>"]'],
  [/\\n( *)at [^"]*?(?=")/g, '\\n$1at <stack>'],
  [/dist\/(?:inside\/)?[\w.-]+?\.(?:js|cjs)(?::\d+)*(?=[^\w/.]|$)/g, 'dist/<file>'],
]

/** Normalises the texts of one flow, and turns the names that it gave back into the real values. */
export class Normalizer {
  #paths
  #ports = new Map()
  #names = new Map()
  #values = new Map()
  #counts = new Map()

  /** `paths` are pairs of a path and the name that stands for it, longer paths first. */
  constructor(paths) {
    this.#paths = [
      ...paths,
      [process.execPath, '<node>'],
      [dirname(process.execPath), '<node-folder>'],
    ]
  }

  addPort(port) {
    this.#ports.set(String(port), `<port-${this.#ports.size + 1}>`)
    this.#values.set(this.#ports.get(String(port)), String(port))
  }

  /** Gives a value of this flow a name that texts show in its place. */
  nameValue(kind, value) {
    const known = this.#names.get(value)
    if (known !== undefined) return known
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    const name = `<${kind}-${count}>`
    this.#names.set(value, name)
    this.#values.set(name, value)
    return name
  }

  /** What a text looks like in the record. */
  apply(text) {
    let result = text
    for (const [path, name] of this.#paths) result = result.replaceAll(path, name)
    for (const [port, name] of this.#ports) {
      result = result.replace(new RegExp(`(?<=[:= ])${port}\\b`, 'g'), name)
    }
    for (const [kind, pattern] of FIELDS) {
      for (const [, value] of text.matchAll(pattern)) this.nameValue(kind, value)
    }
    for (const [kind, pattern] of IDS) {
      result = result.replace(pattern, (value) => this.nameValue(kind, value))
    }
    for (const [value, name] of this.#names) result = result.replaceAll(value, name)
    for (const [pattern, name] of PATTERNS) result = result.replace(pattern, name)
    return result
      .replaceAll(process.version, '<node-version>')
      .replaceAll(process.version.slice(1), '<node-version>')
  }

  /** The opposite for what a request says: `<run-1>` becomes the id of that run. */
  expand(text) {
    let result = text
    for (const [name, value] of this.#values) result = result.replaceAll(name, value)
    for (const [path, name] of this.#paths) result = result.replaceAll(name, path)
    return result
  }
}
