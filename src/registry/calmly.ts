const PAUSE_MS = 500

/** Does the work at once when it is called, and not again before it is done and a moment has passed: a source that tells of a change whenever it is looked at keeps nobody busy. */
export function calmly(work: () => Promise<void>): () => void {
  let isResting = false
  let isWanted = false
  const start = async (): Promise<void> => {
    isResting = true
    isWanted = false
    await work()
    setTimeout(() => {
      isResting = false
      if (isWanted) void start()
    }, PAUSE_MS).unref()
  }
  return () => {
    isWanted = true
    if (!isResting) void start()
  }
}
