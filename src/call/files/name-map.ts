const MOST_IN_A_LEAF = 16
const BITS = 5
const WIDTH = 1 << BITS
const DEEPEST = 6

type Leaf<Value> = ReadonlyMap<string, Value>
type Branch<Value> = readonly (Level<Value> | undefined)[]
type Level<Value> = Leaf<Value> | Branch<Value>

/** A map from names that is never changed: `with` and `without` give another one that shares nearly everything with it. */
export class NameMap<Value> {
  private constructor(
    private readonly top: Level<Value>,
    readonly size: number,
  ) {}

  static empty<Value>(): NameMap<Value> {
    return EMPTY
  }

  get(name: string): Value | undefined {
    let level: Level<Value> | undefined = this.top
    for (let bits = hash(name); isBranch(level); bits >>>= BITS) level = level[bits & (WIDTH - 1)]
    return level?.get(name)
  }

  with(name: string, value: Value): NameMap<Value> {
    return new NameMap(
      put(this.top, name, value, hash(name), 0),
      this.size + (this.has(name) ? 0 : 1),
    )
  }

  without(name: string): NameMap<Value> {
    return this.has(name) ? new NameMap(drop(this.top, name, hash(name)), this.size - 1) : this
  }

  has(name: string): boolean {
    let level: Level<Value> | undefined = this.top
    for (let bits = hash(name); isBranch(level); bits >>>= BITS) level = level[bits & (WIDTH - 1)]
    return level?.has(name) === true
  }

  /** All of it, by name. */
  entries(): readonly (readonly [name: string, value: Value])[] {
    const all: (readonly [string, Value])[] = []
    const collect = (level: Level<Value> | undefined): void => {
      if (isBranch(level)) level.forEach(collect)
      else if (level) all.push(...level)
    }
    collect(this.top)
    return all.sort(([left], [right]) => (left < right ? -1 : 1))
  }
}

const EMPTY = Reflect.construct(NameMap, [new Map(), 0]) as NameMap<never>

function isBranch<Value>(level: Level<Value> | undefined): level is Branch<Value> {
  return Array.isArray(level)
}

function put<Value>(
  level: Level<Value> | undefined,
  name: string,
  value: Value,
  bits: number,
  depth: number,
): Level<Value> {
  if (isBranch(level)) {
    const slot = bits & (WIDTH - 1)
    return level.with(slot, put(level[slot], name, value, bits >>> BITS, depth + 1))
  }
  const leaf = new Map(level).set(name, value)
  if (leaf.size <= MOST_IN_A_LEAF || depth === DEEPEST) return leaf
  const parts: (Map<string, Value> | undefined)[] = Array.from({ length: WIDTH })
  for (const [key, one] of leaf) {
    const slot = (hash(key) >>> (BITS * depth)) & (WIDTH - 1)
    parts[slot] = (parts[slot] ?? new Map<string, Value>()).set(key, one)
  }
  return parts
}

function drop<Value>(level: Level<Value>, name: string, bits: number): Level<Value> {
  if (isBranch(level)) {
    const slot = bits & (WIDTH - 1)
    return level.with(slot, drop(level[slot]!, name, bits >>> BITS))
  }
  const leaf = new Map(level)
  leaf.delete(name)
  return leaf
}

// FNV-1a, with its high bits mixed into the low ones.
function hash(name: string): number {
  let code = 0x811c9dc5
  for (let index = 0; index < name.length; index += 1)
    code = Math.imul(code ^ name.charCodeAt(index), 0x01000193)
  return (code ^ (code >>> 15)) >>> 0
}
