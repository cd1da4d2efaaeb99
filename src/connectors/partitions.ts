/** Which subtask reads which partition: partition i belongs to subtask i modulo the parallelism. */

/** The partitions of one subtask, ascending; none when there are more subtasks than partitions. */
export function ownedPartitions(count: number, subtask: number, parallelism: number): number[] {
  const owned: number[] = [];
  for (let partition = subtask; partition < count; partition += parallelism) owned.push(partition);
  return owned;
}
