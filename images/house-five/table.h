/*
 * Rule: what a search found out about a position is remembered, for other moves lead there too.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum { WIN = 30000, SURE_WIN = WIN - 1000 };

enum bound { NO_BOUND, UPPER, LOWER, EXACT };

struct slot {
    uint64_t key;
    int16_t move, value;
    int8_t depth;
    uint8_t bound;
};

/* Memory for remembered positions; 0 means no limit. Never uses more than 16 MiB. */
void table_limit_memory(int64_t bytes);
void table_forget(void);

/* The slot of a position, or NULL if nothing is known of it. */
const struct slot *table_find(uint64_t key);
void table_remember(uint64_t key, int move, int value, int depth, enum bound bound, int ply);

int table_value(const struct slot *slot, int ply);
bool table_decides(const struct slot *slot, int value, int alpha, int beta);

#endif
