#include <stdbool.h>
#include <stddef.h>

size_t first_free_of(const bool *taken, size_t count)
{
    size_t place = 0;
    while (place < count && taken[place])
        place++;
    return place;
}
