/*
 * Rule: one slot a position, and the latest comer has it.
 */
#include "table.h"

#include <stddef.h>
#include <string.h>

enum { TABLE_SLOTS = 1 << 20, FEWEST_SLOTS = 1 << 10 };

static struct slot table[TABLE_SLOTS];
static uint32_t table_mask = TABLE_SLOTS - 1;

void table_limit_memory(int64_t bytes)
{
    uint32_t slots = TABLE_SLOTS;
    while (bytes > 0 && slots > FEWEST_SLOTS && (int64_t)(slots * sizeof(struct slot)) > bytes / 4)
        slots /= 2; /* program, boards and tables need their part too */
    table_mask = slots - 1;
}

void table_forget(void)
{
    memset(table, 0, sizeof table);
}

static struct slot *slot_of(uint64_t key)
{
    return &table[key >> 32 & table_mask];
}

const struct slot *table_find(uint64_t key)
{
    const struct slot *slot = slot_of(key);
    return slot->key == key ? slot : NULL;
}

/* Wins are stored by their distance from the position itself, not from the root. */
static int value_to_slot(int value, int ply)
{
    return value > SURE_WIN ? value + ply : value < -SURE_WIN ? value - ply : value;
}

int table_value(const struct slot *slot, int ply)
{
    int value = slot->value;
    return value > SURE_WIN ? value - ply : value < -SURE_WIN ? value + ply : value;
}

void table_remember(uint64_t key, int move, int value, int depth, enum bound bound, int ply)
{
    struct slot *slot = slot_of(key);
    slot->key = key;
    slot->move = (int16_t)move;
    slot->value = (int16_t)value_to_slot(value, ply);
    slot->depth = (int8_t)depth;
    slot->bound = (uint8_t)bound;
}

bool table_decides(const struct slot *slot, int value, int alpha, int beta)
{
    return slot->bound == EXACT || (slot->bound == LOWER && value >= beta) ||
           (slot->bound == UPPER && value <= alpha);
}
