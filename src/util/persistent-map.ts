const MAX_LEAF_SIZE = 16
const BITS_PER_LEVEL = 5
const BRANCH_WIDTH = 1 << BITS_PER_LEVEL
const MAX_DEPTH = 6

type MapLeaf<Value> = ReadonlyMap<string, Value>
type MapBranch<Value> = readonly (MapLevel<Value> | undefined)[]
type MapLevel<Value> = MapLeaf<Value> | MapBranch<Value>

/**
 * A map from names that is never changed: `with` and `without` give another one that shares nearly
 * everything with it.
 */
export class PersistentMap<Value> {
  private constructor(
    private readonly top: MapLevel<Value>,
    readonly size: number,
  ) {}

  static empty<Value>(): PersistentMap<Value> {
    return EMPTY_MAP
  }

  get(name: string): Value | undefined {
    let level: MapLevel<Value> | undefined = this.top
    for (let bits = hashName(name); isBranch(level); bits >>>= BITS_PER_LEVEL)
      level = level[bits & (BRANCH_WIDTH - 1)]
    return level?.get(name)
  }

  with(name: string, value: Value): PersistentMap<Value> {
    return new PersistentMap(
      putEntry(this.top, name, value, hashName(name), 0),
      this.size + (this.has(name) ? 0 : 1),
    )
  }

  without(name: string): PersistentMap<Value> {
    return this.has(name)
      ? new PersistentMap(dropEntry(this.top, name, hashName(name)), this.size - 1)
      : this
  }

  has(name: string): boolean {
    let level: MapLevel<Value> | undefined = this.top
    for (let bits = hashName(name); isBranch(level); bits >>>= BITS_PER_LEVEL)
      level = level[bits & (BRANCH_WIDTH - 1)]
    return level?.has(name) === true
  }

  /** All of it, by name. */
  entries(): readonly (readonly [name: string, value: Value])[] {
    const all: (readonly [string, Value])[] = []
    const collect = (level: MapLevel<Value> | undefined): void => {
      if (isBranch(level)) level.forEach(collect)
      else if (level) all.push(...level)
    }
    collect(this.top)
    return all.sort(([left], [right]) => (left < right ? -1 : 1))
  }
}

const EMPTY_MAP = Reflect.construct(PersistentMap, [new Map(), 0]) as PersistentMap<never>

function isBranch<Value>(level: MapLevel<Value> | undefined): level is MapBranch<Value> {
  return Array.isArray(level)
}

function putEntry<Value>(
  level: MapLevel<Value> | undefined,
  name: string,
  value: Value,
  bits: number,
  depth: number,
): MapLevel<Value> {
  if (isBranch(level)) {
    const slot = bits & (BRANCH_WIDTH - 1)
    return level.with(slot, putEntry(level[slot], name, value, bits >>> BITS_PER_LEVEL, depth + 1))
  }
  const leaf = new Map(level).set(name, value)
  if (leaf.size <= MAX_LEAF_SIZE || depth === MAX_DEPTH) return leaf
  const parts: (Map<string, Value> | undefined)[] = Array.from({ length: BRANCH_WIDTH })
  for (const [key, one] of leaf) {
    const slot = (hashName(key) >>> (BITS_PER_LEVEL * depth)) & (BRANCH_WIDTH - 1)
    parts[slot] = (parts[slot] ?? new Map<string, Value>()).set(key, one)
  }
  return parts
}

function dropEntry<Value>(level: MapLevel<Value>, name: string, bits: number): MapLevel<Value> {
  if (isBranch(level)) {
    const slot = bits & (BRANCH_WIDTH - 1)
    return level.with(slot, dropEntry(level[slot]!, name, bits >>> BITS_PER_LEVEL))
  }
  const leaf = new Map(level)
  leaf.delete(name)
  return leaf
}

// FNV-1a, with its high bits mixed into the low ones.
function hashName(name: string): number {
  let code = 0x811c9dc5
  for (let index = 0; index < name.length; index += 1)
    code = Math.imul(code ^ name.charCodeAt(index), 0x01000193)
  return (code ^ (code >>> 15)) >>> 0
}
